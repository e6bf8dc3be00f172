/** A reader that goes on behind its cursor again and again, and is killed now and then. */

import { join } from 'node:path'
import { check } from '../check.ts'
import { EVERYTHING, parseRows, type Row } from '../rows.ts'
import type { World } from './world.ts'

export type Follower = ReturnType<typeof createFollower>

export function createFollower(world: World) {
  const cursorFile = join(world.folder, 'follower.cursor')
  const outputFile = join(world.folder, 'follower.ndjson')
  const seen = new Map<number, Row>()
  let last = 0

  /** Reads what is new. What a killed reader had read counts only when the cursor has moved on. */
  async function read(): Promise<void> {
    const output = await world.run([
      ...['export', ...EVERYTHING],
      ...['--cursor-file', cursorFile, '--out', outputFile],
    ])
    const cursor = world.readCursor(cursorFile)
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
      check(
        read?.email === row.email && read.subscribed_at === row.subscribed_at,
        () => `who reads by cursor has ${JSON.stringify(read)} where the list has ${JSON.stringify(row)}`,
      )
    }
  }

  return { read, checkAgainst, count: () => seen.size }
}
