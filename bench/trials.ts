/** The trials as data: each with its load, its contenders and its goals. */

import { listBaselines } from './contenders.ts'
import type { ListKind } from './lists.ts'

/** What is measured. A trial has some of these. */
export type Metric = keyof typeof METRICS

/** The metrics in the order of their columns: title, decimal digits, and whether more is better. */
export const METRICS = {
  // With the CPU time until the server is idle added to the duration, as if it could not respond meanwhile.
  rate: { title: 'requests/s', digits: 0, isMoreBetter: true },
  // Of all threads and processes of the server until it is idle, per request.
  cpu: { title: 'CPU µs/request', digits: 1, isMoreBetter: false },
  p99: { title: 'p99 ms', digits: 1, isMoreBetter: false },
  // The longest of single requests while the inbox is compacted.
  wait: { title: 'longest wait ms', digits: 0, isMoreBetter: false },
  memory: { title: 'memory MiB', digits: 0, isMoreBetter: false },
  // From the start of the process to its first response.
  start: { title: 'start ms', digits: 0, isMoreBetter: false },
  // Of a command.
  time: { title: 'time s', digits: 2, isMoreBetter: false },
} as const satisfies Record<string, { title: string; digits: number; isMoreBetter: boolean }>

export type Load =
  /** As many requests as the server can handle, from wrk. `isSpread`: all processes share all cores. */
  | { readonly kind: 'full'; readonly connections: number; readonly isSpread?: boolean }
  /** Single requests while an inbox of almost a million is compacted. */
  | { readonly kind: 'wait' }
  /** No load: only the start is measured. */
  | { readonly kind: 'start' }
  /** A command of the command line. Arguments may be FILE, a million new addresses, and BACKUP, a new file. */
  | { readonly kind: 'command'; readonly args: readonly string[] }

/** A figure of a contender, or its ratio to the best of others in the same round. */
export interface Comparison {
  readonly metric: Metric
  /** Default: `rollcall`. */
  readonly subject?: string
  readonly against?: readonly string[]
}

export interface Goal extends Comparison {
  /** A name for the others, if they are several. */
  readonly called?: string
  readonly atLeast?: number
  readonly atMost?: number
}

export interface Trial {
  readonly name: string
  readonly title: string
  readonly list: ListKind
  readonly load: Load
  /** How often each contender is measured, and for how many seconds of load. */
  readonly rounds: number
  readonly seconds: number
  /** Names in contenders.ts. `other` is there if the run compares with another checkout. */
  readonly contenders: readonly string[]
  readonly goals: readonly Goal[]
}

const FULL: Load = { kind: 'full', connections: 64 }
function toTrial(name: string, title: string, options: Pick<Trial, 'goals'> & Partial<Trial>): Trial {
  const defaults = { list: 'empty', load: FULL, rounds: 12, seconds: 2, contenders: ['other', 'rollcall'] } as const
  return { name, title, ...defaults, ...options }
}

/** A command, with the most seconds that it should take on a machine of two cores. */
function toCommandTrial(name: string, title: string, list: ListKind, args: readonly string[], atMost: number): Trial {
  const load: Load = { kind: 'command', args }
  return toTrial(name, title, { list, load, rounds: 2, contenders: ['rollcall'], goals: [{ metric: 'time', atMost }] })
}

/**
 * Every trial, in the order in which they run. In a trial, those that are compared run one after the other. Every other
 * round is in the reverse order.
 */
export const TRIALS: readonly Trial[] = [
  toTrial('one', 'One sign-up at a time', {
    load: { kind: 'full', connections: 1 },
    rounds: 6,
    contenders: ['rollcall'],
    goals: [{ metric: 'p99', atMost: 50 }],
  }),
  toTrial('new', 'New addresses, 64 connections', {
    seconds: 3,
    contenders: ['bare', 'limit', 'rollcall', 'other', ...listBaselines('durable'), ...listBaselines('relaxed')],
    goals: [
      { metric: 'rate', against: ['other'], atLeast: 1 },
      { metric: 'cpu', against: ['other'], atMost: 1.15 },
      { metric: 'rate', against: ['bare'], atLeast: 0.55 },
      { metric: 'rate', against: ['limit'], atLeast: 0.75 },
      { metric: 'rate', against: listBaselines('durable'), called: 'the best durable server', atLeast: 10 },
      { metric: 'rate', against: listBaselines('relaxed'), called: 'the best relaxed server', atLeast: 2.5 },
    ],
  }),
  toTrial('processes', 'Two processes on one SQLite file, 64 connections', {
    load: { kind: 'full', connections: 64, isSpread: true },
    rounds: 6,
    seconds: 3,
    contenders: ['two', 'rollcall'],
    goals: [
      { metric: 'rate', subject: 'two', against: ['rollcall'], atLeast: 0.75 },
      { metric: 'p99', subject: 'two', atMost: 30 },
    ],
  }),
  toTrial('start', 'Start to first response', {
    load: { kind: 'start' },
    rounds: 15,
    contenders: ['other', 'rollcall', 'bare'],
    goals: [{ metric: 'start', against: ['other'], atMost: 1 }],
  }),
  // Before the trials that add addresses to the list.
  toCommandTrial('count', 'Command `count`, ten million', 'large', ['count'], 0.5),
  toCommandTrial('status', 'Command `status`, ten million', 'large', ['status'], 3),
  toTrial('large', 'New addresses on ten million, 64 connections', {
    list: 'large',
    seconds: 5,
    goals: [
      { metric: 'rate', against: ['other'], atLeast: 0.95 },
      { metric: 'cpu', against: ['other'], atMost: 1.15 },
      { metric: 'memory', atMost: 200 },
    ],
  }),
  toTrial('long', 'New addresses on ten million, 30 s without a pause', {
    list: 'large',
    rounds: 2,
    seconds: 30,
    goals: [
      { metric: 'rate', against: ['other'], atLeast: 0.85 },
      { metric: 'p99', atMost: 200 },
      { metric: 'memory', atMost: 200 },
    ],
  }),
  toTrial('wait', 'Single requests on ten million during compaction of 800,000', {
    list: 'large',
    load: { kind: 'wait' },
    rounds: 2,
    contenders: ['rollcall'],
    goals: [{ metric: 'wait', atMost: 250 }],
  }),
  toCommandTrial('import', 'Command `import`, a million new addresses', 'empty', ['import', 'FILE'], 15),
  toCommandTrial('import-large', 'Command `import`, a million into ten million', 'large', ['import', 'FILE'], 60),
  toCommandTrial('backup', 'Command `backup`, two million', 'million', ['backup', 'BACKUP'], 5),
  toTrial('postgres', 'PostgreSQL: new addresses, 64 connections', {
    list: 'postgres',
    seconds: 5,
    contenders: ['rollcall', 'other', 'fastify-postgres'],
    goals: [
      { metric: 'rate', against: ['other'], atLeast: 0.9 },
      { metric: 'rate', against: ['fastify-postgres'], atLeast: 5 },
    ],
  }),
  toTrial('postgres-pooler', 'PostgreSQL behind PgBouncer, 64 connections', {
    list: 'pooler',
    seconds: 5,
    goals: [{ metric: 'rate', against: ['other'], atLeast: 0.9 }],
  }),
  toTrial('postgres-processes', 'PostgreSQL: two and four processes, 256 connections', {
    list: 'postgres',
    load: { kind: 'full', connections: 256, isSpread: true },
    rounds: 10,
    seconds: 3,
    contenders: ['two', 'rollcall', 'four'],
    goals: [
      { metric: 'rate', subject: 'two', against: ['rollcall'], atLeast: 0.9 },
      { metric: 'rate', subject: 'four', against: ['rollcall'], atLeast: 0.9 },
    ],
  }),
  toTrial('postgres-large', 'PostgreSQL: on five million, 64 connections', {
    list: 'postgres-large',
    load: { kind: 'full', connections: 64, isSpread: true },
    rounds: 3,
    // After a checkpoint, the first change of a page writes all of it. A short load changes each page about once.
    seconds: 10,
    contenders: ['rollcall', 'empty'],
    goals: [{ metric: 'rate', against: ['empty'], atLeast: 0.85 }],
  }),
  toCommandTrial('postgres-count', 'PostgreSQL: command `count`, five million', 'postgres-large', ['count'], 1),
]
