/** The trials as data: each with its load, its contenders and its goals. */

import { DOCUMENTS, ENDPOINT } from '../src/routes.ts'
import type { CommandName } from './command.ts'
import type { ContenderName } from './contenders.ts'
import type { Metric } from './sample.ts'

/** The load of a trial. */
export type Load =
  /** As many requests as the server can handle, from wrk. */
  | {
      readonly kind: 'full'
      readonly requests: Requests
      readonly connections: number
      /** Seconds of load, if more than in other trials. */
      readonly minSeconds?: number
    }
  /** Half of that rate, on a schedule that does not wait for responses. */
  | { readonly kind: 'half'; readonly connections: number }
  /** No load: only the start is measured. */
  | { readonly kind: 'start' }
  /** A command of the command line. */
  | { readonly kind: 'command'; readonly command: CommandName }

/** Requests of one kind, which load.lua creates. */
export interface Requests {
  readonly kind: 'new' | 'known' | 'mixed' | 'document'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sends the ETag of the document as If-None-Match. */
  readonly unchanged?: boolean
}

/** A comparison: the figure of the subject, divided by the best figure of the others in the same round. */
export interface Comparison {
  readonly metric: Metric
  readonly subject: ContenderName
  readonly against: readonly ContenderName[]
  /** A name for the others. */
  readonly called: string
  readonly goal?: Goal
}

/** The goal for a figure or a ratio. */
export type Goal = { readonly atLeast: number } | { readonly atMost: number }

/** A goal for a figure that is not compared. */
export interface Ceiling {
  readonly metric: Metric
  readonly subject: ContenderName
  readonly atMost: number
}

export interface Trial {
  readonly name: string
  readonly title: string
  readonly load: Load
  readonly contenders: readonly ContenderName[]
  readonly comparisons?: readonly Comparison[]
  readonly ceilings?: readonly Ceiling[]
}

/** New addresses, which most trials send. */
export const NEW: Requests = { kind: 'new', path: ENDPOINT.path }

const RATE = { metric: 'rate', subject: 'rollcall' } as const
const DURABLE = ['fastifyDurable', 'expressDurable', 'honoDurable', 'elysiaDurable'] as const
const RELAXED = ['fastifyRelaxed', 'expressRelaxed', 'honoRelaxed', 'elysiaRelaxed'] as const

function toBare(metric: Metric, goal?: Goal, against: ContenderName = 'bare'): Comparison {
  return {
    metric,
    subject: 'rollcall',
    against: [against],
    called: 'the bare handler',
    ...(goal && { goal }),
  }
}

/** Every trial, in the order in which they run. */
export const TRIALS: readonly Trial[] = [
  {
    name: 'new-64',
    title: 'New addresses, 64 connections',
    load: { kind: 'full', requests: NEW, connections: 64 },
    contenders: ['rollcall', 'bare', 'nginx', ...DURABLE, ...RELAXED],
    comparisons: [
      toBare('rate', { atLeast: 0.6 }),
      toBare('cpu', { atMost: 2.2 }),
      { ...RATE, against: DURABLE, called: 'the best durable baseline', goal: { atLeast: 10 } },
      { ...RATE, against: RELAXED, called: 'the best relaxed baseline', goal: { atLeast: 2.5 } },
      { ...RATE, against: ['nginx'], called: 'nginx' },
    ],
  },
  {
    name: 'new-16',
    title: 'New addresses, 16 connections',
    load: { kind: 'full', requests: NEW, connections: 16 },
    contenders: ['rollcall', 'bare'],
    comparisons: [toBare('rate')],
  },
  {
    name: 'new-256',
    title: 'New addresses, 256 connections',
    load: { kind: 'full', requests: NEW, connections: 256 },
    contenders: ['rollcall', 'bare'],
    comparisons: [toBare('rate', { atLeast: 0.65 })],
  },
  {
    name: 'known',
    title: 'Known addresses, 64 connections',
    load: { kind: 'full', requests: { kind: 'known', path: ENDPOINT.path }, connections: 64 },
    contenders: ['rollcall', 'bare'],
    comparisons: [toBare('rate', { atLeast: 0.75 })],
  },
  {
    name: 'mixed',
    title: 'New addresses, 1 in 10 invalid, 64 connections',
    load: { kind: 'full', requests: { kind: 'mixed', path: ENDPOINT.path }, connections: 64 },
    contenders: ['rollcall', 'bare'],
    comparisons: [toBare('rate')],
  },
  {
    name: 'large-list',
    title: 'New addresses on a list of ten million, 64 connections',
    // Long enough for batches of compaction of the size that they have under a load that continues.
    load: { kind: 'full', requests: NEW, connections: 64, minSeconds: 15 },
    contenders: ['rollcallLarge', 'rollcall'],
    comparisons: [
      {
        ...RATE,
        subject: 'rollcallLarge',
        against: ['rollcall'],
        called: 'an empty list',
        goal: { atLeast: 0.85 },
      },
    ],
    ceilings: [{ metric: 'memory', subject: 'rollcallLarge', atMost: 200 }],
  },
  {
    name: 'half-load',
    title: 'New addresses at half load, 64 connections',
    load: { kind: 'half', connections: 64 },
    contenders: ['rollcall', 'bare'],
    comparisons: [toBare('p50'), toBare('p99', { atMost: 3 })],
  },
  {
    name: 'document',
    title: 'Document, plain',
    load: toDocumentLoad({}),
    contenders: ['rollcall', 'bareDocument'],
    comparisons: [toBare('rate', { atLeast: 0.9 }, 'bareDocument')],
  },
  {
    name: 'gzip',
    title: 'Document, gzip',
    load: toDocumentLoad({ headers: { 'Accept-Encoding': 'gzip' } }),
    contenders: ['rollcall', 'bareGzip'],
    comparisons: [toBare('rate', { atLeast: 0.9 }, 'bareGzip')],
  },
  {
    name: 'unchanged',
    title: 'Document, 304',
    load: toDocumentLoad({ unchanged: true }),
    contenders: ['rollcall', 'bareUnchanged'],
    comparisons: [toBare('rate', { atLeast: 0.9 }, 'bareUnchanged')],
  },
  {
    name: 'start',
    title: 'Start to first response',
    load: { kind: 'start' },
    contenders: ['rollcall', 'rollcallLarge', 'bare'],
    comparisons: [toBare('start')],
  },
  {
    name: 'import',
    title: 'Import of a million addresses into an empty list',
    load: { kind: 'command', command: 'import' },
    contenders: ['rollcall'],
  },
  {
    name: 'export',
    title: 'Export of ten million addresses',
    load: { kind: 'command', command: 'export' },
    contenders: ['rollcallLarge'],
  },
  {
    name: 'postgres',
    title: 'PostgreSQL: new addresses, 64 connections',
    load: { kind: 'full', requests: NEW, connections: 64 },
    contenders: ['rollcallPostgres', 'fastifyPostgres'],
    comparisons: [
      {
        ...RATE,
        subject: 'rollcallPostgres',
        against: ['fastifyPostgres'],
        called: 'Fastify with postgres',
        goal: { atLeast: 4 },
      },
    ],
  },
]

function toDocumentLoad(variant: Pick<Requests, 'headers' | 'unchanged'>): Load {
  return {
    kind: 'full',
    requests: { kind: 'document', path: DOCUMENTS.openApiJson.path, ...variant },
    connections: 64,
  }
}
