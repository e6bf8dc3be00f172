/** A list of ten million, made once and kept beside the results: it takes a minute or two. */

import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteStore } from '../src/stores/sqlite.ts'
import { RESULTS } from './machine.ts'

/** Addresses on the large list. */
export const LARGE = 10_000_000

const FILE = join(RESULTS, 'ten-million.db')
const BATCH = 8192

/** Puts a copy of the large list where it is wanted. */
export async function copyLargeList(file: string): Promise<void> {
  if (!existsSync(FILE)) buildLargeList()
  await copyFile(FILE, file)
}

function buildLargeList(): void {
  process.stderr.write(`making a list of ${LARGE.toLocaleString('en')} addresses, once, in ${FILE}\n`)
  mkdirSync(RESULTS, { recursive: true })
  const making = `${FILE}.making`
  for (const end of ['', '-wal', '-shm']) rmSync(making + end, { force: true })
  const store = openSqliteStore(making)
  for (let first = 0; first < LARGE; first += BATCH) {
    const size = Math.min(BATCH, LARGE - first)
    store.append(JSON.stringify(Array.from({ length: size }, (_, index) => toAddress(first + index))))
    if (store.isOverdue()) settleAll(store)
  }
  settleAll(store)
  void store.close()
  // The last close has put everything into the file itself.
  renameSync(making, FILE)
}

function settleAll(store: ReturnType<typeof openSqliteStore>): void {
  while (store.settleFor(1_000)) {
    // Until nothing is left.
  }
}

/** An address for a number, as long as most are, and in no order. */
function toAddress(number: number): string {
  return `reader.${Math.imul(number, 2_654_435_761) >>> 0}.${number}@list.example`
}
