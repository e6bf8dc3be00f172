/**
 * Reads a list in every way, and a backup of it, unless that is the empty string. Prints what they have as JSON.
 *
 *   bun list-reader.ts LIST BACKUP ADDRESS…
 */

import type { Address } from '../../../src/email.ts'
import { openStore } from '../../../src/store/open.ts'
import { copySqlite } from '../../../src/store/sqlite/backup.ts'

const [file = '', backup = '', ...addresses] = process.argv.slice(2)

/** Returns what a list has, why it cannot be written, and the notes for the owner. */
async function read(list: string) {
  const notes: string[] = []
  const store = await openStore({ kind: 'sqlite', file: list }, { create: false, notify: (text) => notes.push(text) })
  const { bytes: _, ...status } = await store.status()
  const content = {
    count: await store.count(),
    found: await store.lookUp(addresses as Address[]),
    lists: await Promise.all(
      [{}, { after: 2, limit: 3 }, { after: 1200, limit: 301 }, { after: 1502 }].map(async (options) =>
        (await Array.fromAsync(store.list(options))).flat(),
      ),
    ),
    status,
  }
  const problem = await store.check().then(
    () => null,
    (error: Error) => error.message,
  )
  await store.close()
  return { content, problem, notes }
}

const found = await read(file)
if (backup) await copySqlite(file, backup, new AbortController().signal)
process.stdout.write(JSON.stringify({ ...found, copied: backup ? (await read(backup)).content : null }))
