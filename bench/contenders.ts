/** The servers that are measured. Each gets PORT, HOST and DATABASE_URL. */

import { fileURLToPath } from 'node:url'
import { type Checkout, type ListKind, toCommand } from './lists.ts'
import type { RequestKind } from './load.ts'

export interface Contender {
  /** Its name in tables. */
  readonly title: string
  readonly command: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** The checkout whose Rollcall it is, or that creates its lists. */
  readonly checkout: Checkout
  /** How many processes share the load, 1 by default. */
  readonly processes?: number
  /** What is sent to it, new addresses by default. */
  readonly sends?: RequestKind
  /** The list that it starts with, if not that of the trial. */
  readonly list?: ListKind
}

const toPath = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** Node comes with the other servers. */
export const NODE = toPath('baselines/node_modules/.bin/node')

/** @param own the checkout that has this file @param other the one to compare with */
export function createContenders(own: Checkout, other: Checkout | undefined): Readonly<Record<string, Contender>> {
  const rollcall = { title: 'Rollcall', command: [...toCommand(own.folder), 'serve'], checkout: own }
  const bun = (file: string, ...args: readonly string[]) => [process.execPath, toPath(file), ...args]
  const node = (file: string, ...args: readonly string[]) => [NODE, toPath(file), ...args]
  const programs = [
    { name: 'fastify', title: 'Fastify 5, node:sqlite', command: node('baselines/servers.js', 'fastify') },
    { name: 'express', title: 'Express 5, node:sqlite', command: node('baselines/servers.js', 'express') },
    { name: 'hono', title: 'Hono, bun:sqlite', command: bun('baselines/servers.js', 'hono') },
    { name: 'elysia', title: 'Elysia, bun:sqlite', command: bun('baselines/servers.js', 'elysia') },
  ]
  const toBaselines = (kind: string, SYNCHRONOUS: string) =>
    programs.map(({ name, title, command }) => [
      `${name}-${kind}`,
      { title: `${title}, ${kind}`, command, environment: { SYNCHRONOUS }, checkout: own },
    ])
  return {
    rollcall,
    ...(other && {
      other: { title: `Rollcall at ${other.commit}`, command: [...toCommand(other.folder), 'serve'], checkout: other },
    }),
    known: { ...rollcall, title: 'Rollcall, known addresses', sends: 'known' },
    empty: { ...rollcall, title: 'Rollcall, empty list', list: 'postgres' },
    two: { ...rollcall, title: 'Rollcall, two processes', processes: 2 },
    four: { ...rollcall, title: 'Rollcall, four processes', processes: 4 },
    bare: { title: 'Bare Bun.serve, stores nothing', command: bun('bare.ts'), checkout: own },
    // On disk before the response, and some time later.
    ...Object.fromEntries([...toBaselines('durable', 'FULL'), ...toBaselines('relaxed', 'NORMAL')]),
    'fastify-postgres': {
      title: 'Fastify 5, postgres',
      command: node('baselines/servers.js', 'fastify'),
      checkout: own,
    },
  }
}
