/** Large inputs, created once and kept in the folder of the results: a file to import, and a list of ten million. */

import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CLI, RESULTS } from './machine.ts'

/** Addresses on the large list. */
export const LARGE = 10_000_000

/** Addresses in the file to import. */
export const IMPORTED = 1_000_000

const LARGE_LIST = join(RESULTS, 'ten-million.db')
const IMPORTED_FILE = join(RESULTS, 'million.txt')
const CHUNK = 10_000

/** Copies the large list to a file. */
export async function copyLargeList(file: string): Promise<void> {
  if (!existsSync(LARGE_LIST)) await buildLargeList()
  await copyFile(LARGE_LIST, file)
}

/** Returns the path of the file to import. */
export async function getImportedFile(): Promise<string> {
  if (existsSync(IMPORTED_FILE)) return IMPORTED_FILE
  mkdirSync(RESULTS, { recursive: true })
  await Bun.write(IMPORTED_FILE, [...toChunks(IMPORTED)].join(''))
  return IMPORTED_FILE
}

async function buildLargeList(): Promise<void> {
  process.stderr.write(`importing ${LARGE.toLocaleString('en')} addresses, once, into ${LARGE_LIST}\n`)
  mkdirSync(RESULTS, { recursive: true })
  const partial = `${LARGE_LIST}.partial`
  for (const suffix of ['', '-wal', '-shm']) rmSync(partial + suffix, { force: true })
  const list = ['--list', `sqlite:${partial}`]
  const importing = Bun.spawn([process.execPath, CLI, 'import', '-', ...list], {
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  for (const chunk of toChunks(LARGE)) {
    importing.stdin.write(chunk)
    await importing.stdin.flush()
  }
  await importing.stdin.end()
  if ((await importing.exited) !== 0) throw new Error('importing the large list failed')
  // Reading compacts the list first, so that no copy has an inbox to compact.
  const { stdout } = Bun.spawnSync([process.execPath, CLI, 'count', ...list])
  if (Number(stdout) !== LARGE) throw new Error(`the large list holds ${stdout}, not ${LARGE}`)
  renameSync(partial, LARGE_LIST)
}

function* toChunks(size: number): Generator<string> {
  for (let first = 0; first < size; first += CHUNK) {
    yield Array.from({ length: CHUNK }, (_, index) => `${toAddress(first + index)}\n`).join('')
  }
}

/** An address of a usual length. Consecutive numbers give addresses that are not in order. */
export function toAddress(number: number): string {
  return `reader.${Math.imul(number, 2_654_435_761) >>> 0}.${number}@list.example`
}
