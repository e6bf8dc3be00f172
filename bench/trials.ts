/** What is measured, as data: each trial with its load, those who take part, and the figures to reach. */

import { DOCUMENTS, ENDPOINT } from '../src/routes.ts'
import type { CommandName } from './command.ts'
import type { ContenderName } from './contenders.ts'
import type { Metric } from './sample.ts'

/** What a server is given to do. */
export type Load =
  /** As many requests as it can take, from wrk. */
  | {
      readonly kind: 'full'
      readonly requests: Requests
      readonly connections: number
      /** At least for so many seconds. */
      readonly lasting?: number
    }
  /** Requests at half the rate that it can take, on a schedule that does not wait for answers. */
  | { readonly kind: 'half'; readonly connections: number }
  /** Nothing but to start. */
  | { readonly kind: 'start' }
  /** A command of Rollcall, to its end; its rate is in addresses. */
  | { readonly kind: 'command'; readonly command: CommandName }

/** Kinds of requests, as load.lua knows them; those of a document with their headers. */
export interface Requests {
  readonly kind: 'new' | 'known' | 'mixed' | 'document'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sends the entity tag that the server gives as If-None-Match. */
  readonly unchanged?: boolean
}

/** A comparison to report: the subject's figure over that of the best of the others, in the same round. */
export interface Comparison {
  readonly metric: Metric
  readonly subject: ContenderName
  readonly against: readonly ContenderName[]
  /** What the others are called together. */
  readonly called: string
  readonly goal?: Goal
}

/** Where a ratio is to lie. */
export type Goal = { readonly atLeast: number } | { readonly atMost: number }

/** A bound for a figure by itself. */
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

/** New addresses, as most trials send them. */
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
    // Long enough for what settles at once to be as much as it is under a load that goes on.
    load: { kind: 'full', requests: NEW, connections: 64, lasting: 15 },
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
    title: 'Start to first answer',
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

function toDocumentLoad(how: Pick<Requests, 'headers' | 'unchanged'>): Load {
  return {
    kind: 'full',
    requests: { kind: 'document', path: DOCUMENTS.openApiJson.path, ...how },
    connections: 64,
  }
}
