/** The servers that are measured. Each gets PORT, HOST and DATABASE_URL. */

import { fileURLToPath } from 'node:url'
import { type Checkout, type ListKind, toCommand } from './lists.ts'

export interface Contender {
  /** Its name in tables. */
  readonly title: string
  readonly command: readonly string[]
  /** The checkout whose Rollcall it is, or that creates its lists. */
  readonly checkout: Checkout
  /** How many processes share the load, 1 by default. */
  readonly processes?: number
  /** The list that it starts with, if not that of the trial. */
  readonly list?: ListKind
}

const toPath = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** Node comes with the other servers. */
export const NODE = toPath('baselines/node_modules/.bin/node')

/** Other servers with SQLite, one for each runtime. Each runs twice: with every address on disk before the response, and some time later. */
const BASELINES = {
  fastify: { title: 'Fastify 5, node:sqlite', runtime: NODE },
  hono: { title: 'Hono, bun:sqlite', runtime: process.execPath },
}
const MODES = { durable: 'FULL', relaxed: 'NORMAL' }

/** The names of the other servers in a mode. */
export const listBaselines = (mode: keyof typeof MODES) => Object.keys(BASELINES).map((name) => `${name}-${mode}`)

/** @param own the checkout that has this file @param other the one to compare with */
export function createContenders(own: Checkout, other: Checkout | undefined): Readonly<Record<string, Contender>> {
  const rollcall = { title: 'Rollcall', command: [...toCommand(own.folder), 'serve'], checkout: own }
  const servers = toPath('baselines/servers.js')
  const baselines = Object.entries(MODES).flatMap(([mode, synchronous]) =>
    Object.entries(BASELINES).map(([name, { title, runtime }]) => [
      `${name}-${mode}`,
      { title: `${title}, ${mode}`, command: [runtime, servers, name, synchronous], checkout: own },
    ]),
  )
  return {
    rollcall,
    ...(other && {
      other: { title: `Rollcall at ${other.commit}`, command: [...toCommand(other.folder), 'serve'], checkout: other },
    }),
    empty: { ...rollcall, title: 'Rollcall, empty list', list: 'postgres' },
    two: { ...rollcall, title: 'Rollcall, two processes', processes: 2 },
    four: { ...rollcall, title: 'Rollcall, four processes', processes: 4 },
    bare: { title: 'Bare Bun.serve, stores nothing', command: [process.execPath, toPath('bare.ts')], checkout: own },
    limit: { title: 'Limit: one hop, one sync', command: [process.execPath, toPath('limit.ts')], checkout: own },
    ...Object.fromEntries(baselines),
    'fastify-postgres': { title: 'Fastify 5, postgres', command: [NODE, servers, 'fastify'], checkout: own },
  }
}
