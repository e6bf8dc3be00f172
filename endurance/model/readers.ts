/** Readers of the list of a world: one that goes on behind its cursor, copies, and backups. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { check } from '../check.ts'
import { type List, toList } from '../rollcall.ts'
import { EVERYTHING, parseRows, type Row, readRows } from '../rows.ts'
import type { Ledger } from './ledger.ts'
import type { World } from './world.ts'

export type Follower = ReturnType<typeof createFollower>

/** A reader that goes on behind its cursor again and again, and is killed now and then. */
export function createFollower(world: World) {
  const cursorFile = join(world.folder, 'follower.cursor')
  const outputFile = join(world.folder, 'follower.ndjson')
  const seen = new Map<number, Row>()
  let last = 0

  /** Reads what is new. What a killed reader had read counts only when the cursor has moved on. */
  async function read(): Promise<void> {
    const files = ['--cursor-file', cursorFile, '--out', outputFile]
    const output = await world.run(['export', ...EVERYTHING, ...files])
    const cursor = existsSync(cursorFile) ? Number.parseInt(readFileSync(cursorFile, 'utf8'), 10) : 0
    check(cursor >= last, () => `the cursor went back from ${last} to ${cursor}`)
    if (cursor === last) return
    const rows = parseRows(await Bun.file(outputFile).text())
    for (const row of rows) {
      check(row.seq > last, () => `an export that begins behind ${last} has ${row.seq}`)
      seen.set(row.seq, row)
    }
    const end = rows.at(-1)?.seq
    check(end === cursor, () => `the cursor is ${cursor}, and the last row is ${end} (${output ?? 'killed'})`)
    last = cursor
  }

  /** Nothing runs now, and the rows are the whole list: fails when the reader has missed one. */
  function checkAgainst(rows: readonly Row[]): void {
    for (const row of rows) {
      const read = seen.get(row.seq)
      const isSame = read?.email === row.email && read.subscribed_at === row.subscribed_at
      check(isSame, () => `the reader has ${JSON.stringify(read)} where the list has ${JSON.stringify(row)}`)
    }
  }

  return { read, checkAgainst, count: () => seen.size }
}

/** The longest list that is read back from a copy under load. */
const LONGEST = 150_000

export type Copier = ReturnType<typeof createCopier>

/** Copies the list into new lists, and backs up a SQLite list into new files. */
export function createCopier(world: World, ledger: Ledger, createList: () => Promise<List>) {
  let backups = 0

  // A backup that was read is a list, which the next backup does not replace.
  const createBackup = () => toList(`sqlite:${join(world.folder, `backup-${++backups}.db`)}`, world.folder)
  const copyTo = (target: List) => world.run(['copy', '--from', world.list.url, '--to', target.url])

  /** Fails unless the copy has what was confirmed before it began. */
  async function take(isBackup: boolean): Promise<void> {
    const target = isBackup ? createBackup() : await createList()
    const start = performance.now()
    const output = isBackup ? await world.run(['backup', target.file]) : await copyTo(target)
    const end = performance.now()
    if (output === undefined || ledger.entries.size > LONGEST) return
    ledger.checkSnapshot(isBackup ? 'a backup' : 'a copy', await readRows(target), start, end)
  }

  /** Nothing runs now, and the rows are the whole list: fails unless a copy is the same. */
  async function checkAgainst(rows: readonly Row[]): Promise<void> {
    const target = await createList()
    await copyTo(target)
    const copied = await readRows(target)
    check(copied.length === rows.length, () => `a copy has ${copied.length} rows of ${rows.length}`)
    const wrong = rows.findIndex((row, index) => JSON.stringify(row) !== JSON.stringify(copied[index]))
    check(wrong < 0, () => `a copy has ${JSON.stringify(copied[wrong])} instead of ${JSON.stringify(rows[wrong])}`)
    const counts = await Promise.all([world.list, target].map((list) => list.run(['count', '--json'])))
    check(counts[0] === counts[1], () => `the list counts ${counts[0]}, and a copy ${counts[1]}`)
  }

  return { take, checkAgainst }
}
