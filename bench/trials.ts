/** The trials as data: each with its load, its contenders and its goals. */

import { DOCUMENTS, ENDPOINT } from '../src/routes.ts'
import type { ContenderName } from './contenders.ts'
import { POSTGRES_TRIALS } from './postgres-trials.ts'
import { NEW, type Requests } from './requests.ts'
import type { Metric } from './sample.ts'
import type { Comparison, Goal, Load, Trial } from './trial.ts'

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
  ...POSTGRES_TRIALS,
]

function toDocumentLoad(variant: Pick<Requests, 'headers' | 'unchanged'>): Load {
  return {
    kind: 'full',
    requests: { kind: 'document', path: DOCUMENTS.openApiJson.path, ...variant },
    connections: 64,
  }
}
