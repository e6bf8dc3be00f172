/** The SQLite store passes the suite, in one process and in several. Its numbers come from the clock of the machine. */

import { Database } from 'bun:sqlite'
import { afterEach, expect, setSystemTime, test } from 'bun:test'
import { join } from 'node:path'
import { append } from '../../../src/store/sqlite/inbox.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { createFolder } from '../../support/workspace.ts'
import { testProcesses } from '../processes.ts'
import { describeStore, emailsOf, type Lists, listAll, toAddress, toAddresses } from '../suite.ts'

const folder = await createFolder()

let lists = 0
const createUrl = async () => `sqlite:${join(folder, `${++lists}.db`)}`

describeStore({ name: 'sqlite', createUrl, additionalTests: testClocks })
testProcesses('sqlite', createUrl)

function testClocks({ createStore }: Lists): void {
  afterEach(() => setSystemTime())

  test.each([2026, 2030, 2400, 9999])(
    'with a clock in %d, numbers increase by one at least, and are safe',
    async (year) => {
      const store = await createStore()
      await store.add(toAddresses('ann@one.example', 'bob@one.example'))
      setSystemTime(new Date(Date.UTC(year, 5)))
      await store.add(toAddresses('cyd@one.example'))
      await store.import([{ email: toAddress('dan@one.example') }])
      setSystemTime()
      await store.add(toAddresses('eve@one.example'))
      const all = await listAll(store)
      expect(emailsOf(all).map((email) => email[0])).toEqual(['a', 'b', 'c', 'd', 'e'])
      expect(all.every(({ seq }, at) => Number.isSafeInteger(seq) && seq > (all[at - 1]?.seq ?? 0))).toBe(true)
    },
  )

  test('with a clock in 1970, nothing is accepted or changed', async () => {
    const store = await createStore()
    await store.add(toAddresses('ann@one.example'))
    setSystemTime(new Date(Date.UTC(1970, 5)))
    const refused = [
      () => store.add(toAddresses('bob@one.example')),
      () => store.probe(),
      () => store.ready(),
      () => store.import([{ email: toAddress('cyd@one.example') }]),
    ]
    for (const change of refused) await expect(change()).rejects.toThrow('the clock is before 2026')
    setSystemTime()
    expect(emailsOf(await listAll(store))).toEqual(toAddresses('ann@one.example'))
  })
}

test('a process that was killed while it created a list leaves none, and the next one creates it', async () => {
  const file = join(folder, 'killed.db')
  const killed = new Database(file)
  killed.run('PRAGMA journal_mode = WAL')
  killed.close()
  for (const access of ['read', 'change'] as const) {
    expect(() => openSqliteStore(file, { access })).toThrow(`there is no list at ${file}`)
  }
  const store = openSqliteStore(file, { access: 'create' })
  await store.add(toAddresses('ann@one.example'))
  await store.close()
  const read = openSqliteStore(file, { access: 'read' })
  expect(await read.count()).toMatchObject({ subscribers: 1 })
  await read.close()
})

test('somebody who comes back while a change waits for the lock is not suppressed any more', async () => {
  const file = join(folder, 'came-back.db')
  const store = openSqliteStore(file, { access: 'create' })
  await store.import(toAddresses('ann@one.example').map((email) => ({ email })))
  await store.remove(toAddresses('ann@one.example'), { suppress: true })
  expect(await store.count()).toMatchObject({ subscribers: 0, suppressed: 1 })
  // Another process holds the lock. The import finds an empty inbox, and waits.
  const other = new Database(file)
  other.run('BEGIN IMMEDIATE')
  const importing = store.import([{ email: toAddress('bob@one.example') }])
  // Nothing outside shows that it waits. If this is too short on a busy machine, the test shows less, and does not fail.
  await Bun.sleep(50)
  append(other, JSON.stringify(toAddresses('ann@one.example')))
  other.run('COMMIT')
  other.close()
  await importing
  expect(await store.count()).toMatchObject({ subscribers: 2, suppressed: 0 })
  await store.close()
})
