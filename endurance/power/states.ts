/** What must hold for the files that a power cut leaves. */

import { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { check, checkDuring, toSample } from '../check.ts'
import { type List, toList } from '../rollcall.ts'
import { byIdentity, checkAllSent, checkNoneLost, type Row, readRows } from '../rows.ts'
import { BACKUP, LIST, type RecordedRun } from './recorded-run.ts'

/**
 * Opens the files as their owner would after a cut.
 *
 * @param position when the power was cut, in microseconds since 1970
 * @returns the number of addresses on the list
 */
export async function checkState(state: string, position: number, run: RecordedRun): Promise<number> {
  const list = toList(`sqlite:${join(state, LIST)}`, state)
  mkdirSync(state, { recursive: true })
  const expected = listExpected(run, position, position)
  // Before the first response there may be no list yet, or an empty file, which the service must take.
  if (expected.length === 0) await (await list.serve()).stop()
  check(existsSync(list.file), () => 'the list is not there')
  const count = Number(await list.run(['count']))
  const listed = await checkList(list, expected, run)
  check(listed.size === count, () => `count says ${count}, and the export has ${listed.size} rows`)
  const back = [...run.removed].filter(([identity, { to }]) => to <= position && listed.has(identity))
  check(back.length === 0, () => `${back.length} removed addresses are back: ${toSample(back)}`)
  await checkBackup(state, position, run)
  return listed.size
}

/** Acknowledged before the first position, and not removed before the second. */
function listExpected({ acknowledged, removed }: RecordedRun, position: number, until: number): string[] {
  const isKept = (identity: string) => (removed.get(identity)?.from ?? Number.POSITIVE_INFINITY) > until
  return [...acknowledged].filter(([identity, at]) => at <= position && isKept(identity)).map(([identity]) => identity)
}

/** Reads a list, and checks it and its file. */
async function checkList(
  list: List,
  expected: readonly string[],
  { sent, rows }: RecordedRun,
): Promise<ReadonlyMap<string, Row>> {
  const found = await readRows(list)
  const listed = byIdentity(found)
  checkNoneLost(listed, expected)
  checkAllSent(listed, (identity) => sent.has(identity))
  checkSame(found, rows)
  checkIntegrity(list.file)
  return listed
}

/** A row has the spelling, the date and the cursor that it has without the cut: a reader may have them already. */
function checkSame(found: readonly Row[], atEnd: ReadonlyMap<string, Row>): void {
  for (const row of found) {
    const same = atEnd.get(row.email.toLowerCase())
    // It may have been removed later.
    if (!same) continue
    const isSame = same.seq === row.seq && same.email === row.email && same.subscribed_at === row.subscribed_at
    check(isSame, () => `a row was ${JSON.stringify(same)} without the cut, and is ${JSON.stringify(row)}`)
  }
}

/** Fails when SQLite finds a damage. */
export function checkIntegrity(file: string): void {
  using db = new Database(file)
  const problems = db.query<{ integrity_check: string }, []>('PRAGMA integrity_check').all()
  check(problems[0]?.integrity_check === 'ok', () => `the file is damaged: ${toSample(problems)}`)
}

/** A backup that has its name is complete. After the first one that was reported, there is one. */
async function checkBackup(state: string, position: number, run: RecordedRun): Promise<void> {
  const last = run.backups.findLast(({ to }) => to <= position)
  const file = join(state, BACKUP)
  check(!last || existsSync(file), () => 'the backup is not there')
  if (!existsSync(file)) return
  const expected = last ? listExpected(run, last.from, position) : []
  await checkDuring('the backup', () => checkList(toList(`sqlite:${file}`, state), expected, run))
}

/**
 * Fails unless a folder has the same files as another: the replay of a complete recording leaves what the processes
 * left. The -shm file of SQLite is written through a memory map, which is not recorded. A list is complete without it.
 */
export function checkReplay(replayed: string, root: string): void {
  const list = (folder: string) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('-shm'))
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
      .sort()
  const [found, expected] = [list(replayed), list(root)]
  check(String(found) === String(expected), () => `the replay has the files ${found}, and the disk has ${expected}`)
  for (const name of found) {
    const isSame = readFileSync(join(replayed, name)).equals(readFileSync(join(root, name)))
    check(isSame, () => `the replay of ${name} differs from the disk: the recording is not complete`)
  }
}
