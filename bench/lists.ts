/**
 * Lists that a trial starts with. Large ones are imported once, by the command line of the checkout that will use them,
 * and kept in the folder of the results.
 */

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { getServer, PASSWORD, type TestServer } from '../test/support/postgres.ts'
import { startPgBouncer } from '../test/support/postgres-server.ts'
import type { Pins } from './load.ts'

export type ListKind = 'empty' | 'large' | 'million' | 'postgres' | 'pooler' | 'postgres-large'

/** A checkout of Rollcall. */
export interface Checkout {
  readonly folder: string
  readonly commit: string
  /** The state of its stores, which names its lists. */
  readonly stores: string
}

/** The folder of the results; git ignores it. */
export const RESULTS = fileURLToPath(new URL('results/', import.meta.url))

const SIZES = { large: 10_000_000, million: 2_000_000, 'postgres-large': 5_000_000 }

export function toCheckout(folder: string): Checkout {
  const read = (...args: readonly string[]) =>
    Bun.spawnSync(['git', ...args], { cwd: folder })
      .stdout.toString()
      .trim() || 'unknown'
  return {
    folder,
    commit: read('rev-parse', '--short', 'HEAD'),
    stores: read('rev-parse', '--short', 'HEAD:src/store'),
  }
}

/** The command line of a checkout, with the runtime of that checkout. */
export function toCommand({ folder }: Checkout): string[] {
  return [join(folder, 'node_modules/.bin/bun'), join(folder, 'src/cli.ts')]
}

/** A list, as a value of DATABASE_URL. */
export interface BenchList {
  readonly url: string
  /** The process of a database server, whose CPU counts too. */
  readonly server?: number
}

/** Creates a list of a kind for a sample. @param folder is removed after the sample */
export async function createList(
  kind: ListKind,
  checkout: Checkout,
  folder: string,
  pins: Pins | undefined,
): Promise<BenchList> {
  if (kind === 'postgres' || kind === 'pooler' || kind === 'postgres-large')
    return await createDatabase(kind, checkout, pins)
  const file = join(folder, 'list.db')
  if (kind === 'empty') return { url: `sqlite:${file}` }
  await copyFile(await getLargeList(kind, checkout), file)
  // Else the copy would still be written during the sample.
  Bun.spawnSync(['sync', file])
  return { url: `sqlite:${file}` }
}

async function getLargeList(kind: 'large' | 'million', checkout: Checkout): Promise<string> {
  const file = join(RESULTS, `${kind}-${checkout.stores}.db`)
  if (existsSync(file)) return file
  for (const suffix of ['', '-wal', '-shm', '-state']) rmSync(`${file}.partial${suffix}`, { force: true })
  await importInto(`sqlite:${file}.partial`, checkout, SIZES[kind])
  renameSync(`${file}.partial`, file)
  rmSync(`${file}.partial-state`, { force: true })
  return file
}

/** Imports the addresses of load.lua with seed 0, from 1. Returns when they are all in the list. */
async function importInto(url: string, checkout: Checkout, size: number): Promise<void> {
  process.stderr.write(`importing ${size.toLocaleString('en')} addresses, once, with ${checkout.commit}\n`)
  const run = async (...args: readonly string[]) => {
    const child = Bun.spawn([...toCommand(checkout), ...args], {
      env: { PATH: process.env.PATH, DATABASE_URL: url },
      cwd: RESULTS,
      stdout: 'pipe',
      stderr: 'ignore',
    })
    const output = await child.stdout.text()
    if ((await child.exited) !== 0) throw new Error(`${args.join(' ')} failed with ${checkout.commit}`)
    return output
  }
  await run('import', await getFile('listed', 0, size))
  const count = Number(await run('count'))
  if (count !== size) throw new Error(`the large list has ${count} addresses, not ${size}`)
}

/** Returns a file of addresses. Each million is sorted, so that an import of many millions takes minutes, not an hour. */
export async function getFile(name: string, seed: number, size: number): Promise<string> {
  mkdirSync(RESULTS, { recursive: true })
  const file = join(RESULTS, `${name}-${size}.txt`)
  if (existsSync(file)) return file
  const writer = Bun.file(`${file}.partial`).writer()
  for (let first = 1; first <= size; first += 1_000_000) {
    const length = Math.min(1_000_000, size - first + 1)
    const addresses = Array.from({ length }, (_, index) => toAddress(first + index, seed))
    // A file that people import is in no order. The lists that load adds to only have to exist.
    writer.write(`${(seed === 0 ? addresses.sort() : addresses).join('\n')}\n`)
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

let server: Promise<TestServer> | undefined
let pooler: Promise<number> | undefined
const largeDatabases = new Map<string, Promise<string>>()

/** The server keeps the indexes of a large list in its memory, as one that is set up for such a list does. */
async function startServer(): Promise<TestServer> {
  const started = await getServer()
  await started.run(`ALTER SYSTEM SET shared_buffers = '1GB'`, started.admin)
  await started.kill()
  await started.start()
  return started
}

async function createDatabase(kind: ListKind, checkout: Checkout, pins: Pins | undefined): Promise<BenchList> {
  server ??= startServer()
  const { createUrl, data, admin } = await server
  const [pid = ''] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
  // The processes of later connections inherit the cores.
  Bun.spawnSync(['taskset', '-a', '-c', '-p', pins?.server ?? `0-${availableParallelism() - 1}`, pid])
  const own = { server: Number(pid) }
  if (kind === 'postgres') return { url: await createUrl(), ...own }
  if (kind === 'pooler') {
    pooler ??= startPgBouncer(Number(new URL(admin).port), PASSWORD)
    const url = new URL(await createUrl())
    url.port = String(await pooler)
    return { url: url.href, ...own }
  }
  const existing = largeDatabases.get(checkout.commit) ?? createLargeDatabase(checkout, await server)
  largeDatabases.set(checkout.commit, existing)
  return { url: await existing, ...own }
}

async function createLargeDatabase(checkout: Checkout, { createUrl, run }: TestServer): Promise<string> {
  const url = await createUrl()
  await importInto(url, checkout, SIZES['postgres-large'])
  await run('VACUUM (ANALYZE)', url)
  // What is not written yet would be written during the samples.
  await run('CHECKPOINT', url)
  return url
}
