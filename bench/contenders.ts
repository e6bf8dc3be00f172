/** The servers that are measured. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BenchList, type Checkout, type ListKind, toCommand } from './lists.ts'
import type { RequestKind } from './load.ts'

export interface Contender {
  /** Its name in tables. */
  readonly title: string
  /** What it stands for; decides its color in the chart. */
  readonly role: 'rollcall' | 'limit' | 'durable' | 'relaxed'
  /** Says what is missing on this machine, and how to install it. */
  readonly missing?: () => string | undefined
  /** The path that is requested to see whether it has started; `/` by default. */
  readonly probe?: string
  /** How many processes share the load, 1 by default. Each gets its port in the variable `PORT`. */
  readonly processes?: number
  /** Sends requests of this kind instead of those of the trial. */
  readonly sends?: RequestKind
  /** Starts with a list of this kind instead of that of the trial. */
  readonly list?: ListKind
  /** The checkout whose Rollcall it is. Others store elsewhere, or nothing. */
  readonly checkout?: Checkout
  /** Returns the command that starts it. It writes only into the folder. */
  launch(place: Place): { readonly command: readonly string[]; readonly environment?: Readonly<Record<string, string>> }
}

export interface Place {
  /** The port of the first process. */
  readonly port: number
  readonly folder: string
  readonly list: BenchList
}

const toPath = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const NODE = toPath('baselines/node_modules/.bin/node')
const needsBaselines = () =>
  existsSync(NODE) ? undefined : 'the baselines are not installed: npm ci --prefix bench/baselines'

/** @param own the checkout that has this file @param other the one to compare with */
export function createContenders(own: Checkout, other: Checkout | undefined): Readonly<Record<string, Contender>> {
  const rollcall = (title: string, options: Partial<Contender> = {}): Contender => ({
    title,
    role: 'rollcall',
    probe: '/llms.txt',
    checkout: own,
    launch: ({ list }) => ({
      command: [...toCommand(options.checkout ?? own), 'serve'],
      environment: { HOST: '127.0.0.1', DATABASE_URL: list.url },
    }),
    ...options,
  })
  return {
    rollcall: rollcall('Rollcall'),
    ...(other && { other: rollcall(`Rollcall at ${other.commit}`, { checkout: other }) }),
    known: rollcall('Rollcall, known addresses', { sends: 'known' }),
    listed: rollcall('Rollcall, known addresses', { sends: 'listed' }),
    empty: rollcall('Rollcall, empty list', { list: 'postgres' }),
    two: rollcall('Rollcall, two processes', { processes: 2 }),
    four: rollcall('Rollcall, four processes', { processes: 4 }),
    bare: {
      title: 'Bare Bun.serve, stores nothing',
      role: 'limit',
      launch: ({ port }) => ({ command: [process.execPath, toPath('bare.ts'), String(port)] }),
    },
    ...createBaselines('durable'),
    ...createBaselines('relaxed'),
    fastifyPostgres: {
      title: 'Fastify 5, postgres',
      role: 'durable',
      missing: needsBaselines,
      launch: ({ list }) => ({
        command: [NODE, toPath('baselines/fastify-postgres.js')],
        environment: { NODE_ENV: 'production', DATABASE_URL: list.url },
      }),
    },
  }
}

/** The programs in `baselines/`, by name and kind such as `fastify-durable`: one INSERT for each request. */
function createBaselines(role: 'durable' | 'relaxed'): Record<string, Contender> {
  const programs = { fastify: 'Fastify 5', express: 'Express 5', hono: 'Hono', elysia: 'Elysia' }
  const toContender = ([name, title]: readonly [string, string]): [string, Contender] => {
    const isOnNode = name === 'fastify' || name === 'express'
    const launch = ({ folder }: Place) => ({
      command: [isOnNode ? NODE : process.execPath, toPath(`baselines/${name}.js`)],
      environment: {
        NODE_ENV: 'production',
        FILE: join(folder, 'list.db'),
        SYNCHRONOUS: role === 'durable' ? 'FULL' : 'NORMAL',
      },
    })
    const database = isOnNode ? 'node:sqlite' : 'bun:sqlite'
    return [`${name}-${role}`, { title: `${title}, ${database}, ${role}`, role, missing: needsBaselines, launch }]
  }
  return Object.fromEntries(Object.entries(programs).map(toContender))
}
