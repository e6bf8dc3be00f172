/** The trials of the PostgreSQL store. */

import type { ContenderName } from './contenders.ts'
import { NEW } from './requests.ts'
import type { Load, Trial } from './trial.ts'

/** All processes share all cores: the service, the server and the load generator take turns by themselves. */
function toSpread(connections: number, minSeconds = 0): Load {
  return { kind: 'full', requests: NEW, connections, minSeconds, isSpread: true }
}

function toProcesses(connections: number): Trial {
  const toComparison = (subject: ContenderName, processes: string) => ({
    metric: 'rate' as const,
    subject,
    against: ['rollcallPostgres'] as const,
    called: `one process: ${processes}`,
    goal: { atLeast: 0.9 },
  })
  return {
    name: `postgres-processes-${connections}`,
    title: `PostgreSQL: two and four processes, ${connections} connections`,
    // Four processes share the requests by which each is warmed up.
    load: toSpread(connections, 5),
    contenders: ['rollcallPostgres', 'rollcallPostgres2', 'rollcallPostgres4'],
    comparisons: [toComparison('rollcallPostgres2', 'two'), toComparison('rollcallPostgres4', 'four')],
  }
}

export const POSTGRES_TRIALS: readonly Trial[] = [
  {
    name: 'postgres',
    title: 'PostgreSQL: new addresses, 64 connections',
    load: { kind: 'full', requests: NEW, connections: 64 },
    contenders: ['rollcallPostgres', 'fastifyPostgres'],
    comparisons: [
      {
        metric: 'rate',
        subject: 'rollcallPostgres',
        against: ['fastifyPostgres'],
        called: 'Fastify with postgres',
        goal: { atLeast: 5 },
      },
    ],
  },
  {
    name: 'postgres-sqlite',
    title: 'PostgreSQL and SQLite, 64 connections',
    load: toSpread(64),
    contenders: ['rollcallPostgres', 'rollcall'],
    comparisons: [
      { metric: 'rate', subject: 'rollcallPostgres', against: ['rollcall'], called: 'SQLite', goal: { atLeast: 0.8 } },
    ],
  },
  toProcesses(64),
  toProcesses(256),
  {
    name: 'postgres-large',
    title: 'PostgreSQL: on a list of five million, 64 connections',
    // After a checkpoint, the first change of a page writes all of it. A short load changes each page about once.
    load: toSpread(64, 10),
    contenders: ['rollcallPostgresLarge', 'rollcallPostgres', 'rollcallPostgresKnown'],
    comparisons: [
      {
        metric: 'rate',
        subject: 'rollcallPostgresLarge',
        against: ['rollcallPostgres'],
        called: 'an empty list',
        goal: { atLeast: 0.85 },
      },
      {
        metric: 'rate',
        subject: 'rollcallPostgresKnown',
        against: ['rollcallPostgresLarge'],
        called: 'new addresses on the same list',
        goal: { atLeast: 0.8 },
      },
    ],
  },
  {
    name: 'postgres-count',
    title: 'PostgreSQL: the command `count`, five million',
    load: { kind: 'command', command: 'count' },
    contenders: ['rollcallPostgresLarge'],
    ceilings: [{ metric: 'time', subject: 'rollcallPostgresLarge', atMost: 500 }],
  },
  {
    name: 'postgres-page',
    title: 'PostgreSQL: a page of 5,000 behind a random cursor, five million',
    load: { kind: 'pages' },
    contenders: ['rollcallPostgresLarge'],
    ceilings: [{ metric: 'time', subject: 'rollcallPostgresLarge', atMost: 5 }],
  },
]
