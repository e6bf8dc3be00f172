/** Another process holds the write lock of the list: clients wait for it until the deadline, and documents do not wait. */

import { expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { STORE_DEADLINE_MS } from '../../src/limits.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { DOCUMENTS, RESPONSES } from '../support/contract.ts'
import { holdLock, readList, toListFile } from '../support/list-file.ts'
import { createFolder, startService } from '../support/service.ts'

/** Awaits work, and says whether it ended before a clock of this process, the caller, shows the deadline. */
async function timed<T>(work: Promise<T>) {
  let isOver = false
  const timer = setTimeout(() => {
    isOver = true
  }, STORE_DEADLINE_MS)
  const start = performance.now()
  const value = await work
  clearTimeout(timer)
  return { value, isInTime: !isOver, ms: performance.now() - start }
}

test('a request waits for a short lock, and nothing is logged', async () => {
  const folder = await createFolder()
  // A list that existed before, as after most starts.
  await openSqliteStore(toListFile(folder)).close()
  const service = await startService({ folder })
  const lock = await holdLock(toListFile(folder))
  const waiting = service.subscribe('ann@example.org')
  // The address is with the thread by then, which waits for the lock.
  for (let request = 0; request < 10; request++) await service.request(DOCUMENTS.openApiJson.path)
  await lock.release()
  expect((await waiting).status).toBe(200)
  expect(service.log()).not.toContain('the store')
  expect(await service.stop()).toBe(0)
  await rm(folder, { recursive: true })
})

test('requests get 500 before 5 s have passed while another process holds the write lock, and 200 when it is released', async () => {
  const folder = await createFolder()
  const service = await startService({ folder, env: { OPS_PORT: '0' } })
  const readyz = () => fetch(`http://127.0.0.1:${service.opsPort}/readyz`).then(({ status }) => status)
  expect((await service.subscribe('before@example.org')).status).toBe(200)
  const lock = await holdLock(toListFile(folder))

  const refused = [service.subscribe('early1@example.org'), service.subscribe('early2@example.org')].map(timed)
  const unready = readyz()
  let fetched = 0
  let isOver = false
  const documents = fetchDocuments()
  for (const { value, isInTime, ms } of await Promise.all(refused)) {
    expect([value.status, value.body]).toEqual([500, RESPONSES.store_failed.body])
    // A busy machine delays the clock of the caller as well.
    expect(isInTime).toBe(true)
    expect(ms).toBeGreaterThan(4_500)
  }
  // Documents must not wait for the lock, so most of them are served in these 5 s.
  expect(fetched).toBeGreaterThan(10)
  expect([await unready, await readyz()]).toEqual([503, 503])

  const late = [service.subscribe('late1@example.org'), service.subscribe('LATE1@example.org')]
  await service.request(DOCUMENTS.openApiJson.path)
  await lock.release()
  for (const { status } of await Promise.all(late)) expect(status).toBe(200)
  isOver = true
  await documents
  expect(await readyz()).toBe(200)
  expect((await service.subscribe('after@example.org')).status).toBe(200)
  expect(service.log().match(/the store fails/g)).toHaveLength(1)
  expect(service.log().match(/the store has recovered/g)).toHaveLength(1)

  expect(await service.stop()).toBe(0)
  const list = await readList(folder)
  // An address that got a 500 may be on the list or not.
  expect(list.map((email) => email.toLowerCase()).filter((email) => !email.startsWith('early'))).toEqual([
    'before@example.org',
    'late1@example.org',
    'after@example.org',
  ])
  await rm(folder, { recursive: true })

  async function fetchDocuments(): Promise<void> {
    while (!isOver) {
      expect((await service.request(DOCUMENTS.openApiJson.path)).status).toBe(200)
      fetched++
      await Bun.sleep(10)
    }
  }
})
