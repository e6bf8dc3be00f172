/** The trials as data: each with its load, its contenders and its goals. */

import type { ListKind } from './lists.ts'
import type { RequestKind } from './load.ts'

/** What is measured. A trial has some of these. */
export type Metric = keyof typeof METRICS

/** The metrics in the order of their columns: title, decimal digits, and whether more is better. */
export const METRICS = {
  // While the load lasts.
  burst: { title: 'requests/s', digits: 0, isMoreBetter: true },
  // With the CPU time until the server is idle added to the duration, as if it could not respond meanwhile.
  rate: { title: 'requests/s with compaction', digits: 0, isMoreBetter: true },
  // Of all threads and processes of the server until it is idle, per request.
  cpu: { title: 'CPU µs/request', digits: 1, isMoreBetter: false },
  p99: { title: 'p99 ms', digits: 1, isMoreBetter: false },
  // The longest of single requests while the inbox is compacted.
  wait: { title: 'longest wait ms', digits: 0, isMoreBetter: false },
  // Peak of the resident memory (VmHWM).
  memory: { title: 'memory MiB', digits: 0, isMoreBetter: false },
  // From the start of the process to its first response.
  start: { title: 'start ms', digits: 0, isMoreBetter: false },
  // Of a command.
  time: { title: 'time s', digits: 2, isMoreBetter: false },
  commandCpu: { title: 'CPU s', digits: 2, isMoreBetter: false },
} as const satisfies Record<string, { title: string; digits: number; isMoreBetter: boolean }>

export type Load =
  /** As many requests as the server can handle, from wrk. */
  | {
      readonly kind: 'full'
      readonly connections: number
      readonly requests?: RequestKind
      /** Seconds of load, if not those of the run. */
      readonly seconds?: number
      /** Whether all processes share all cores. Default: the load generator has a core of its own. */
      readonly isSpread?: boolean
    }
  /** Single requests while an inbox of almost a million is compacted. */
  | { readonly kind: 'wait' }
  /** No load: only the start is measured. */
  | { readonly kind: 'start' }
  /** A command of the command line. Arguments may be FILE, a million new addresses, and BACKUP, a new file. */
  | { readonly kind: 'command'; readonly args: readonly string[] }

/** A goal for a figure of a contender, or for its ratio to the best of others in the same round. */
export interface Goal {
  readonly metric: Metric
  /** Default: `rollcall`. */
  readonly subject?: string
  readonly against?: readonly string[]
  /** A name for the others. */
  readonly called?: string
  readonly atLeast?: number
  readonly atMost?: number
}

export interface Trial {
  readonly name: string
  readonly title: string
  readonly list: ListKind
  readonly load: Load
  /** Names in contenders.ts. `other` is there if the run compares with another checkout. */
  readonly contenders: readonly string[]
  readonly goals: readonly Goal[]
}

const NAMES = ['fastify', 'express', 'hono', 'elysia']
const DURABLE = NAMES.map((name) => `${name}-durable`)
const RELAXED = NAMES.map((name) => `${name}-relaxed`)
const BARE = { against: ['bare'], called: 'the bare handler' }
const OTHER = { against: ['other'], called: 'the other checkout' }

function toFull(
  connections: number,
  options: { seconds?: number; isSpread?: boolean; requests?: RequestKind } = {},
): Load {
  return { kind: 'full', connections, ...options }
}

/** A command, with the most seconds that it should take on a machine of two cores. */
function toCommandTrial(name: string, title: string, list: ListKind, args: readonly string[], atMost: number): Trial {
  const goals: Goal[] = [
    { metric: 'time', atMost },
    { metric: 'time', ...OTHER },
  ]
  return { name, title, list, load: { kind: 'command', args }, contenders: ['rollcall', 'other'], goals }
}

/** Every trial, in the order in which they run. */
export const TRIALS: readonly Trial[] = [
  {
    name: 'new',
    title: 'New addresses, 64 connections',
    list: 'empty',
    load: toFull(64),
    contenders: ['rollcall', 'other', 'known', 'bare', ...DURABLE, ...RELAXED],
    goals: [
      { metric: 'rate', ...BARE, atLeast: 0.55 },
      { metric: 'rate', against: DURABLE, called: 'the best durable baseline', atLeast: 10 },
      { metric: 'rate', against: RELAXED, called: 'the best relaxed baseline', atLeast: 2.5 },
      {
        metric: 'burst',
        subject: 'known',
        against: ['rollcall'],
        called: 'new addresses',
        atLeast: 0.95,
        atMost: 1.05,
      },
      { metric: 'burst', ...OTHER, atLeast: 1 },
      { metric: 'cpu', ...OTHER, atMost: 1.15 },
    ],
  },
  {
    name: 'new-256',
    title: 'New addresses, 256 connections',
    list: 'empty',
    load: toFull(256),
    contenders: ['rollcall', 'other', 'bare'],
    goals: [{ metric: 'rate', ...BARE, atLeast: 0.65 }],
  },
  {
    name: 'large',
    title: 'New addresses on ten million, 64 connections',
    list: 'large',
    load: toFull(64),
    contenders: ['rollcall', 'other'],
    goals: [
      { metric: 'burst', ...OTHER, atLeast: 0.95 },
      { metric: 'cpu', ...OTHER, atMost: 1.15 },
      { metric: 'memory', atMost: 200 },
    ],
  },
  {
    name: 'long',
    title: 'New addresses on ten million, 64 connections, 30 s without a pause',
    list: 'large',
    load: toFull(64, { seconds: 30 }),
    contenders: ['rollcall', 'other'],
    goals: [
      { metric: 'burst', ...OTHER, atLeast: 0.85 },
      { metric: 'p99', atMost: 200 },
      { metric: 'memory', atMost: 200 },
    ],
  },
  {
    name: 'wait',
    title: 'Single requests on ten million, while an inbox of almost a million is compacted',
    list: 'large',
    load: { kind: 'wait' },
    contenders: ['rollcall', 'other'],
    goals: [{ metric: 'wait', atMost: 250 }],
  },
  {
    name: 'document',
    title: 'A document, 64 connections',
    list: 'empty',
    load: toFull(64, { requests: 'document' }),
    contenders: ['rollcall', 'bare'],
    goals: [{ metric: 'rate', ...BARE, atLeast: 0.9 }],
  },
  {
    name: 'start',
    title: 'Start to first response',
    list: 'empty',
    load: { kind: 'start' },
    contenders: ['rollcall', 'other', 'bare'],
    goals: [{ metric: 'start', ...OTHER, atMost: 1 }],
  },
  toCommandTrial('import', 'Command `import`, a million new addresses', 'empty', ['import', 'FILE'], 15),
  toCommandTrial(
    'import-large',
    'Command `import`, a million new addresses into ten million',
    'large',
    ['import', 'FILE'],
    60,
  ),
  toCommandTrial('count', 'Command `count`, ten million', 'large', ['count'], 0.5),
  toCommandTrial('status', 'Command `status`, ten million', 'large', ['status'], 3),
  toCommandTrial('backup', 'Command `backup`, two million', 'million', ['backup', 'BACKUP'], 5),
  {
    name: 'postgres',
    title: 'PostgreSQL: new addresses, 64 connections',
    list: 'postgres',
    load: toFull(64),
    contenders: ['rollcall', 'other', 'fastifyPostgres'],
    goals: [
      { metric: 'rate', against: ['fastifyPostgres'], called: 'Fastify with postgres', atLeast: 5 },
      { metric: 'rate', ...OTHER, atLeast: 0.9 },
    ],
  },
  {
    name: 'postgres-pooler',
    title: 'PostgreSQL behind PgBouncer, 64 connections',
    list: 'pooler',
    load: toFull(64),
    contenders: ['rollcall', 'other'],
    goals: [{ metric: 'rate', ...OTHER, atLeast: 1.5 }],
  },
  {
    name: 'postgres-processes',
    title: 'PostgreSQL: two and four processes, 256 connections',
    list: 'postgres',
    // Four processes share the requests by which each is warmed up.
    load: toFull(256, { isSpread: true }),
    contenders: ['rollcall', 'two', 'four'],
    goals: [
      { metric: 'rate', subject: 'two', against: ['rollcall'], called: 'one process', atLeast: 0.9 },
      { metric: 'rate', subject: 'four', against: ['rollcall'], called: 'one process', atLeast: 0.9 },
    ],
  },
  {
    name: 'postgres-large',
    title: 'PostgreSQL: on five million, 64 connections',
    list: 'postgres-large',
    // After a checkpoint, the first change of a page writes all of it. A short load changes each page about once.
    load: toFull(64, { isSpread: true, seconds: 10 }),
    contenders: ['rollcall', 'empty', 'listed'],
    goals: [
      { metric: 'rate', against: ['empty'], called: 'an empty list', atLeast: 0.85 },
      {
        metric: 'burst',
        subject: 'listed',
        against: ['rollcall'],
        called: 'new addresses',
        atLeast: 0.95,
        atMost: 1.05,
      },
    ],
  },
  {
    name: 'postgres-count',
    title: 'PostgreSQL: command `count`, five million',
    list: 'postgres-large',
    load: { kind: 'command', args: ['count'] },
    contenders: ['rollcall'],
    goals: [{ metric: 'time', atMost: 1 }],
  },
]
