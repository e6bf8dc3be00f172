/** Another process holds the write lock: a caller waits for it as long as the deadline, and nobody else waits at all. */

import { expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { holdLock, readList, toListFile } from '../support/list-file.ts'
import { createFolder, startService } from '../support/service.ts'

/** How long the lock is held, in milliseconds. */
const HELD_MS = 8_000

async function timed<T>(work: Promise<T>): Promise<{ readonly value: T; readonly ms: number }> {
  const start = performance.now()
  const value = await work
  return { value, ms: performance.now() - start }
}

test('another process holds the write lock for 8 s', async () => {
  const folder = await createFolder()
  const service = await startService({ folder, env: { OPS_PORT: '0' } })
  const readyz = () => fetch(`http://127.0.0.1:${service.opsPort}/readyz`).then(({ status }) => status)
  expect((await service.subscribe('before@example.org')).status).toBe(200)
  const lock = await holdLock(toListFile(folder), HELD_MS)

  let waiting = true
  const early = [
    timed(service.subscribe('early1@example.org')),
    timed(service.subscribe('early2@example.org')),
  ]
  const unready = timed(readyz())
  const slowest = slowestDocument(() => waiting)
  for (const { value, ms } of await Promise.all(early)) {
    expect(value.status).toBe(500)
    expect(JSON.parse(value.body).message).toBe('storage_failure')
    expect(ms).toBeWithin(4_500, 6_000)
  }
  expect((await unready).value).toBe(503)
  expect(await readyz()).toBe(503)

  // These come late enough to see the end of the lock within their deadline.
  const late = [service.subscribe('late1@example.org'), service.subscribe('LATE1@example.org')]
  for (const { status } of await Promise.all(late)) expect(status).toBe(200)
  waiting = false
  await lock.released
  expect(await slowest).toBeLessThan(1_000)
  expect(await readyz()).toBe(200)
  expect((await service.subscribe('after@example.org')).status).toBe(200)
  expect(service.log().match(/the store fails/g)).toHaveLength(1)
  expect(service.log().match(/the store has recovered/g)).toHaveLength(1)

  expect(await service.stop()).toBe(0)
  const list = await readList(folder)
  // What was answered 500 may be on the list or not.
  expect(list.filter((email) => !email.startsWith('early'))).toEqual([
    'before@example.org',
    'late1@example.org',
    'after@example.org',
  ])
  await rm(folder, { recursive: true })

  /** Asks for documents one after the other; the longest that one took, in milliseconds. */
  async function slowestDocument(go: () => boolean): Promise<number> {
    let slowest = 0
    while (go()) {
      const { value, ms } = await timed(service.request('/openapi.json'))
      expect(value.status).toBe(200)
      slowest = Math.max(slowest, ms)
      await Bun.sleep(10)
    }
    return slowest
  }
})
