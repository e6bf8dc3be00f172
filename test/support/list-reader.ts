/**
 * Reads a list in every way, and prints what it has as JSON.
 *
 *   bun list-reader.ts LIST BACKUP ADDRESS…
 */

import { parseAddress } from '../../src/email.ts'
import { openStore } from '../../src/store/open.ts'
import { copySqlite } from '../../src/store/sqlite/backup.ts'

const [file = '', backup = '', ...texts] = process.argv.slice(2)
const addresses = texts.map((text) => {
  const parsed = parseAddress(text)
  if (!parsed.ok) throw new Error(`${text}: ${parsed.reason}`)
  return parsed.value
})
const store = await openStore({ kind: 'sqlite', file }, { create: false })
const { bytes: _, ...status } = await store.status(30)
const content = {
  count: await store.count(),
  found: await Promise.all(addresses.map((address) => store.find(address))),
  states: await store.lookUp(addresses),
  list: (await Array.fromAsync(store.list())).flat(),
  parts: await Promise.all([
    Array.fromAsync(store.list({ after: 2, limit: 3 })),
    Array.fromAsync(store.list({ after: 1200, limit: 1 })),
  ]),
  status,
}
const problem = await store.check().then(
  () => null,
  (error: Error) => error.message,
)
await store.close()
const copied = backup && (await copySqlite(file, backup, new AbortController().signal))
process.stdout.write(JSON.stringify({ content, problem, copied }))
