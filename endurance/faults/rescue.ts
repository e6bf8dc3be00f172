/** What a service saves of a list that it has lost. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { toList } from '../rollcall.ts'
import { readRows } from '../rows.ts'

/** The start of every SQLite file. */
const SQLITE = 'SQLite format 3\0'

/** Reads the addresses in the rescue files of a folder, which are lists, or texts with an address in each line. */
export async function readRescued(dataFolder: string, folder: string): Promise<ReadonlySet<string>> {
  const rescued = new Set<string>()
  const names = existsSync(dataFolder) ? readdirSync(dataFolder) : []
  for (const name of names.filter((one) => /rescue/i.test(one) && !/-(?:wal|shm)$/.test(one))) {
    const file = join(dataFolder, name)
    const text = readFileSync(file, 'latin1')
    const emails = text.startsWith(SQLITE)
      ? (await readRows(toList(`sqlite:${file}`, folder))).map(({ email }) => email)
      : (text.match(/[\w.+-]+@[\w.-]+/g) ?? [])
    for (const email of emails) rescued.add(email.toLowerCase())
  }
  return rescued
}
