/** Promise 1: the address is on stable storage before its 200. Counted in the system calls of the service. */

import { expect, onTestFinished, test } from 'bun:test'
import { realpath, rm } from 'node:fs/promises'
import { countCompacted, readList, toListFile } from '../support/list-file.ts'
import { createFolder, type RunningService, startService } from '../support/service.ts'
import { createSyncCounter, type SyncCounter } from '../support/sync-counter.ts'
import { until } from '../support/wait.ts'

interface CountedService extends RunningService {
  readonly counter: SyncCounter
  /** The log of the list (WAL), which a commit appends to. */
  readonly wal: string
}

/** Starts a service whose syncs are counted; it stops when the test ends. */
async function startCounted(): Promise<CountedService> {
  const counter = await createSyncCounter()
  const folder = await realpath(await createFolder())
  const service = await startService({ folder, env: counter.env })
  onTestFinished(async () => {
    await service.stop('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })
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

/** Expects a 500 while the disk does not sync the log, and a 200 when it does again. */
async function expectNo200WithoutSync({ subscribe, counter, wal }: CountedService, email: string) {
  counter.failSyncsOf(wal)
  expect((await subscribe(email)).status).toBe(500)
  counter.failSyncsOf(undefined)
  expect((await subscribe(email)).status).toBe(200)
}

const toEmails = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name}${index}@example.org`)

/** Waits until the service has compacted its list, which it does when no request arrives for a moment. */
async function waitForCompaction({ folder }: RunningService, subscribers: number): Promise<void> {
  const file = toListFile(folder)
  await until(() => countCompacted(file) === subscribers)
}

test('each 200 comes after a sync of the log, for a new and for a known address', async () => {
  const service = await startCounted()
  const emails = toEmails('ada', 8)
  await expectSyncForEach(service, [...emails, ...emails])
})

test('an address that the disk does not sync gets no 200', async () => {
  const service = await startCounted()
  await expectNo200WithoutSync(service, 'ada@example.org')
  expect(await readList(service.folder)).toEqual(['ada@example.org'])
})

test('each 200 comes after a sync when the service has compacted its list', async () => {
  const service = await startCounted()
  await expectSyncForEach(service, toEmails('early', 3))
  await waitForCompaction(service, 3)
  await expectSyncForEach(service, toEmails('late', 8))
  await waitForCompaction(service, 11)
  await expectNo200WithoutSync(service, 'last@example.org')
})
