/** Promise 1: the address is on stable storage before its 200. Counted in the system calls of the service. */

import { expect, onTestFinished, test } from 'bun:test'
import { renameSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { countCompacted, readList, toListFile } from '../support/list-file.ts'
import { type Environment, type RunningService, runCommand, startService } from '../support/service.ts'
import { createSyncCounter, type SyncCounter } from '../support/sync-counter.ts'
import { until } from '../support/wait.ts'
import { createFolder } from '../support/workspace.ts'

interface CountedService extends RunningService {
  readonly counter: SyncCounter
  /** The log of the list (WAL), which a commit appends to. */
  readonly wal: string
}

/** Starts a service whose syncs are counted; it stops when the test ends. */
async function startCounted(env: Environment = {}): Promise<CountedService> {
  const counter = await createSyncCounter()
  const folder = await realpath(await createFolder())
  const service = await startService({ folder, env: { ...counter.env, ...env } })
  onTestFinished(() => service.stop('SIGKILL'))
  return { ...service, counter, wal: `${toListFile(folder)}-wal` }
}

/** Posts addresses one after the other, and expects a sync of the log between each request and its 200. */
async function expectSyncForEach({ subscribe, counter, wal }: CountedService, emails: readonly string[]) {
  for (const email of emails) {
    const before = counter.count(wal)
    expect((await subscribe(email)).status).toBe(200)
    expect(counter.count(wal), `syncs of the log when ${email} got its 200`).toBeGreaterThan(before)
  }
}

const toEmails = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name}${index}@example.org`)

test('each 200 comes after a sync of the log: for new and known addresses, and before and after compaction', async () => {
  const service = await startCounted()
  const emails = toEmails('ada', 4)
  await expectSyncForEach(service, [...emails, ...emails])
  // The service compacts when no request arrives for a moment.
  await until(() => countCompacted(toListFile(service.folder)) === 4, 'the list is compacted')
  await expectSyncForEach(service, [...emails, ...toEmails('late', 4)])
})

test('a sign-up that is alone needs two syncs: one before its 200, and one for its compaction', async () => {
  const { counter, folder, subscribe, wal } = await startCounted()
  const before = counter.count(wal)
  expect((await subscribe('ada@example.org')).status).toBe(200)
  // Others see the commit of a slice only after its sync.
  await until(() => countCompacted(toListFile(folder)) === 1, 'the list is compacted')
  expect(counter.count(wal) - before).toBe(2)
})

test('an address that the disk does not sync gets no 200', async () => {
  const { counter, folder, subscribe, wal } = await startCounted()
  counter.failCallsOf('sync', wal)
  expect((await subscribe('ada@example.org')).status).toBe(500)
  counter.failCallsOf('sync', undefined)
  expect((await subscribe('ada@example.org')).status).toBe(200)
  expect(await readList(folder)).toEqual(['ada@example.org'])
})

test('after a sync that failed, the log is moved into the list before the next 200', async () => {
  const { counter, folder, subscribe, wal } = await startCounted()
  expect((await subscribe('ada@example.org')).status).toBe(200)
  counter.failCallsOf('sync', wal)
  expect((await subscribe('bob@example.org')).status).toBe(500)
  counter.failCallsOf('sync', undefined)
  const before = counter.count(toListFile(folder))
  expect((await subscribe('bob@example.org')).status).toBe(200)
  expect(counter.count(toListFile(folder))).toBeGreaterThan(before)
})

test('while the log cannot be moved into the list after a sync that failed, no address gets a 200', async () => {
  const { counter, folder, subscribe, wal } = await startCounted()
  expect((await subscribe('ada@example.org')).status).toBe(200)
  counter.failCallsOf('sync', wal)
  expect((await subscribe('bob@example.org')).status).toBe(500)
  counter.failCallsOf('sync', toListFile(folder))
  for (const email of ['cem@example.org', 'dan@example.org']) expect((await subscribe(email)).status).toBe(500)
  counter.failCallsOf('sync', undefined)
  expect((await subscribe('eve@example.org')).status).toBe(200)
  expect(await readList(folder)).toEqual(['ada@example.org', 'eve@example.org'])
})

test('an address whose list is replaced between its commit and its response gets no 200', async () => {
  const { counter, folder, subscribe, wal } = await startCounted()
  const file = toListFile(folder)
  const release = counter.holdSyncsOf(wal)
  const before = counter.count(wal)
  const reply = subscribe('ada@example.org')
  await until(() => counter.count(wal) > before, 'the address is synced')
  for (const suffix of ['', '-wal', '-shm']) renameSync(file + suffix, `${file}.old${suffix}`)
  release()
  expect((await reply).status).toBe(500)
})

test('each 200 comes after a sync when a compaction has failed', async () => {
  const service = await startCounted()
  const { counter, folder, subscribe, wal } = service
  // The first compaction of a service does not wait. The next one waits for a moment without a request.
  expect((await subscribe('ada@example.org')).status).toBe(200)
  await until(() => countCompacted(toListFile(folder)) === 1, 'the list is compacted')
  const isFailed = () => counter.events().some(({ call, ok }) => call === 'pwrite' && !ok)
  // The disk fails after the commit has written, and before compaction begins.
  const release = counter.holdSyncsOf(wal)
  const before = counter.count(wal)
  const reply = subscribe('eve@example.org')
  await until(() => counter.count(wal) > before, 'the address is synced')
  counter.failCallsOf('pwrite', wal)
  release()
  expect((await reply).status).toBe(200)
  await until(isFailed, 'compaction fails')
  counter.failCallsOf('pwrite', undefined)
  await expectSyncForEach(service, toEmails('bob', 4))
})

test('a new list and each folder that was created for it are synced before the service listens', async () => {
  const service = await startCounted({ DATABASE_URL: 'sqlite:a/b/list.db' })
  const paths = ['', 'a', 'a/b', 'a/b/list.db'].map((path) => join(service.folder, path))
  for (const path of paths) expect([path, service.counter.count(path)]).not.toEqual([path, 0])
})

// SQLite syncs the folder of its journal too, but ignores an error.
test.each(['', 'a', 'a/b'])('a new list is refused when the folder "%s" cannot be synced', async (path) => {
  const counter = await createSyncCounter()
  const folder = await realpath(await createFolder())
  counter.failCallsOf('sync', join(folder, path))
  const settings = { PORT: '0', BASE_URL: 'http://127.0.0.1:3000', DATABASE_URL: 'sqlite:a/b/list.db' }
  const { code, stderr } = await runCommand(['serve'], { folder, env: { ...counter.env, ...settings } })
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('the disk reports an error') })
})
