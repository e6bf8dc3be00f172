/** A command finishes while a service accepts more addresses than the command can compact. */

import { afterAll, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteStore, type SqliteStore } from '../../../src/store/sqlite/store.ts'
import { createFolder } from '../../support/service.ts'
import { toAddress } from '../../support/store-suite.ts'

const folder = await createFolder()
afterAll(() => rm(folder, { recursive: true }))

/** Addresses in the inbox before a command starts, and those that arrive in each of its pauses. */
const [BEFORE, EACH] = [21_000, 25_000]
/** Pauses after which a command that does not finish is given up. */
const MOST_PAUSES = 200

let lists = 0
let sent = 0

function accept(store: SqliteStore, size: number): void {
  const batch = Array.from({ length: size }, () => `new${sent++}@mail.io`)
  // As large as the rows of a busy service.
  for (let start = 0; start < size; start += 1000) store.append(JSON.stringify(batch.slice(start, start + 1000)))
}

/** Runs a command on a list that gets new addresses in each of its pauses. Fails when it needs too many. */
async function runUnderLoad<T>(run: (command: SqliteStore) => Promise<T>): Promise<T> {
  const file = join(folder, `${++lists}.db`)
  const [service, command] = [openSqliteStore(file), openSqliteStore(file)]
  accept(service, BEFORE)
  let pauses = 0
  const timer = setInterval(() => {
    if (++pauses < MOST_PAUSES) accept(service, EACH)
  }, 0)
  try {
    const result = await run(command)
    expect(pauses).toBeLessThan(MOST_PAUSES)
    return result
  } finally {
    clearInterval(timer)
    for (const store of [service, command]) await store.close()
  }
}

test('count compacts what was accepted before it started, and no more', async () => {
  expect(await runUnderLoad((command) => command.count())).toMatchObject({ subscribers: BEFORE })
})

test('remove sees what was accepted before it started', async () => {
  const address = toAddress(`new${sent}@mail.io`)
  expect(await runUnderLoad((command) => command.remove([address], { suppress: true }))).toEqual(['subscribed'])
})

test('list ends where the list ended at its first page', async () => {
  const file = join(folder, `${++lists}.db`)
  const [service, command] = [openSqliteStore(file), openSqliteStore(file)]
  accept(service, 5000)
  let yielded = 0
  for await (const page of command.list()) {
    yielded += page.length
    accept(service, 1000)
    await service.count()
  }
  expect(yielded).toBe(5000)
  for (const store of [service, command]) await store.close()
})

test('the inbox says when its oldest address was accepted, and nothing after compaction', async () => {
  const store = openSqliteStore(join(folder, 'since.db'))
  const start = Date.now()
  expect(store.inboxSince()).toBeUndefined()
  accept(store, 10)
  const since = store.inboxSince() ?? 0
  expect(since).toBeWithin(start, Date.now() + 1)
  await Bun.sleep(5)
  accept(store, 10)
  expect(store.inboxSince()).toBe(since)
  await store.count()
  expect(store.inboxSince()).toBeUndefined()
  await store.close()
})
