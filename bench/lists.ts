/**
 * Lists that a trial starts with. Large ones are imported once, by the command line of the checkout that uses them, and kept
 * in the folder of the results.
 */

import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { $ } from 'bun'
import { getServer, PASSWORD } from '../test/support/postgres.ts'
import { startPgBouncer } from '../test/support/postgres-server.ts'
import { createFolder } from '../test/support/workspace.ts'
import { readCommit } from './document.ts'
import type { Pins } from './load.ts'

/** Each kind, with the number of its addresses. */
const SIZES = { empty: 0, million: 2_000_000, large: 10_000_000, postgres: 0, pooler: 0, 'postgres-large': 5_000_000 }
export type ListKind = keyof typeof SIZES

/** A checkout of Rollcall. */
export interface Checkout {
  readonly folder: string
  readonly commit: string
  /** The state of its schema, which names its large lists. */
  readonly schema: string
}

/** A list, as a value of DATABASE_URL. */
export interface BenchList {
  readonly url: string
  /** The processes of a database server, whose CPU counts too. */
  readonly servers: readonly number[]
}

/** The folder of the results; git ignores it. */
export const RESULTS = fileURLToPath(new URL('results/', import.meta.url))

export async function toCheckout(folder: string): Promise<Checkout> {
  const schema = await $`git rev-parse --short HEAD:src/store/sqlite/schema.ts`.cwd(folder).text()
  return { folder, commit: await readCommit(folder), schema: schema.trim() }
}

/** The command line of a checkout, with the runtime of that checkout. */
export function toCommand(folder: string): string[] {
  return [join(folder, 'node_modules/.bin/bun'), join(folder, 'src/cli.ts')]
}

/** The copy of each large list that trials share, by the file that it was made from. It grows a little. */
const shared = new Map<string, string>()

/** Milliseconds for which a disk stays slow after a gigabyte was written to it, in a virtual machine also after a sync. */
const SETTLE_MS = 20_000

export interface ListOptions {
  readonly checkout: Checkout
  /** The folder of a new list. */
  readonly folder: string
  readonly pins: Pins
  /** Whether a large list must not have what an earlier trial added to it. */
  readonly isFresh: boolean
}

/** Creates a list of a kind. */
export async function createList(kind: ListKind, options: ListOptions): Promise<BenchList> {
  const { checkout, folder, isFresh } = options
  if (kind === 'postgres' || kind === 'pooler' || kind === 'postgres-large') return await createDatabase(kind, options)
  if (kind === 'empty') return toSqlite(join(folder, 'list.db'))
  const large = join(RESULTS, `${kind}-${checkout.schema}.db`)
  const existing = isFresh ? undefined : shared.get(large)
  if (existing) return toSqlite(existing)
  if (!existsSync(large)) {
    const partial = `${large}.partial`
    await $`rm -f ${partial} ${partial}-wal ${partial}-shm`
    await importInto(`sqlite:${partial}`, checkout, SIZES[kind])
    renameSync(partial, large)
  }
  const file = join(isFresh ? folder : await createFolder(), 'list.db')
  await copyFile(large, file)
  await $`sync ${file}`
  await Bun.sleep(SETTLE_MS)
  if (!isFresh) shared.set(large, file)
  return toSqlite(file)
}

const toSqlite = (file: string): BenchList => ({ url: `sqlite:${file}`, servers: [] })

/** Imports the addresses of load.lua with seed 0, from 1. */
async function importInto(url: string, { folder, commit }: Checkout, size: number): Promise<void> {
  process.stderr.write(`importing ${size.toLocaleString('en')} addresses, once, with ${commit}\n`)
  const rollcall = toCommand(folder)
  const file = await getFile('listed', size)
  const environment = { PATH: process.env.PATH, ENV_FILE: '/dev/null', DATABASE_URL: url }
  await $`${rollcall} import ${file}`.env(environment).cwd(RESULTS).quiet()
  const count = Number(await $`${rollcall} count`.env(environment).cwd(RESULTS).text())
  if (count !== size) throw new Error(`the large list has ${count} addresses, not ${size}`)
}

/** Returns a file of addresses, which is made once: those of the large lists, or new ones. */
export async function getFile(name: 'listed' | 'new', size: number): Promise<string> {
  mkdirSync(RESULTS, { recursive: true })
  const file = join(RESULTS, `${name}-${size}.txt`)
  if (existsSync(file)) return file
  const writer = Bun.file(`${file}.partial`).writer()
  for (let first = 1; first <= size; first += 1_000_000) {
    const length = Math.min(1_000_000, size - first + 1)
    const addresses = Array.from({ length }, (_, index) => toAddress(first + index, name === 'listed' ? 0 : 2))
    // Sorted, so that an import of many millions takes minutes. A file that people import is in no order.
    writer.write(`${(name === 'listed' ? addresses.sort() : addresses).join('\n')}\n`)
    await writer.flush()
  }
  await writer.end()
  renameSync(`${file}.partial`, file)
  return file
}

/** The same address as in load.lua. */
function toAddress(number: number, seed: number): string {
  const value = (((number * 40_503) % 2 ** 32) * 65_521) % 2 ** 32
  return `${value.toString(16).padStart(8, '0')}.${seed.toString(16).padStart(8, '0')}@readers.lan`
}

let started: ReturnType<typeof startPostgres> | undefined
let large: string | undefined

/** The server keeps the indexes of a large list in its memory, as one that is set up for such a list does. */
async function startPostgres() {
  const server = await getServer()
  await server.run(`ALTER SYSTEM SET shared_buffers = '1GB'`, server.admin)
  await server.kill()
  await server.start()
  return { ...server, pooler: await startPgBouncer(Number(new URL(server.admin).port), PASSWORD) }
}

async function createDatabase(kind: ListKind, { checkout, pins }: ListOptions): Promise<BenchList> {
  started ??= startPostgres()
  const { data, createUrl, pooler, run } = await started
  const pid = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
  // The processes of later connections inherit the cores.
  await $`taskset -a -c -p ${pins.server} ${pid}`.quiet()
  const url = new URL(kind === 'postgres-large' && large ? large : await createUrl())
  if (kind === 'pooler') url.port = String(pooler)
  if (kind === 'postgres-large' && !large) {
    large = url.href
    await importInto(large, checkout, SIZES[kind])
    await run('VACUUM (ANALYZE)', large)
    // What is not written yet would be written during the samples.
    await run('CHECKPOINT', large)
  }
  return { url: url.href, servers: [pid] }
}
