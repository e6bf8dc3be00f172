/** A disk that is full or has errors: requests get 500, the log names the cause, and the service recovers without a restart. */

import { Database } from 'bun:sqlite'
import { expect, onTestFinished, test } from 'bun:test'
import { statfsSync } from 'node:fs'
import { mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { DOCUMENTS, RESPONSES } from '../support/contract.ts'
import { giveSpace, SMALL_DISK, takeSpace } from '../support/disk.ts'
import { readList, toListFile } from '../support/list-file.ts'
import { createLedger, expectKept, postUntilFailure } from '../support/load.ts'
import { type RunningService, startService } from '../support/service.ts'
import { createSyncCounter } from '../support/sync-counter.ts'
import { until } from '../support/wait.ts'
import { createFolder } from '../support/workspace.ts'

/** All of them, and not those of a bucket, which has only the fast ones. */
async function countFailedCommits(service: RunningService): Promise<number> {
  const metrics = await (await service.ops('/metrics')).text()
  return Number(/duration_seconds_count\{outcome="failed"\} (\d+)/.exec(metrics)?.[1])
}

test('the service recovers when a full disk has space again', async () => {
  const folder = await realpath(await createFolder())
  const ledger = createLedger()
  const service = await startService({ folder, launcher: SMALL_DISK, env: { OPS_PORT: '0' } })
  const readyz = async () => (await service.ops('/readyz')).status
  expect(await readyz()).toBe(200)

  await postUntilFailure(service, ledger)
  expect(ledger.acknowledged.size).toBeGreaterThan(100)
  // The space that was too little for a batch may be enough for one address.
  takeSpace(service.process.pid)
  // Before that, the log that is truncated after a failure may have given space to a few more commits.
  const from = service.log().length
  const logged = (text: string) => service.log().slice(from).split(text).length - 1
  ledger.sent.add('full@example.org')
  const refused = await service.subscribe('full@example.org')
  expect(refused.status).toBe(500)
  expect(refused.body).toBe(RESPONSES.store_failed.body)
  expect(await readyz()).toBe(503)
  expect((await service.request(DOCUMENTS.openApiJson.path)).status).toBe(200)
  expect(logged('the store fails')).toBeLessThanOrEqual(1)
  // A limit on the size of a file: SQLite reports it with the code of a broken disk.
  expect(service.log()).toContain(
    'the list cannot be used: the disk reports an error, or a quota or a limit on the size of a file is reached',
  )

  expect(await (await service.ops('/metrics')).text()).toMatch(
    /commit_duration_seconds_count\{outcome="failed"\} [1-9]/,
  )

  // No request comes, so the service asks the disk itself, and it is still full.
  const countFailures = () => countFailedCommits(service)
  const failures = await countFailures()
  await until(async () => (await countFailures()) > failures, 'the next attempt to write fails')
  expect(await readyz()).toBe(503)
  expect(logged('the store has recovered')).toBe(0)

  // It must also notice the space.
  giveSpace(service.process.pid)
  await until(async () => (await readyz()) === 200, '/readyz responds 200')
  await service.logged('the store has recovered')
  const load = postUntilFailure(service, ledger)
  const goal = ledger.answered + 1_000
  await until(() => ledger.answered >= goal, '1000 more requests get a 200')
  expect(await service.stop()).toBe(0)
  await load
  await expectKept(folder, ledger)
})

test('a full disk is noticed while no request comes, also when the log of the list is empty', async () => {
  const folder = await realpath(await createFolder())
  const service = await startService({ folder, launcher: SMALL_DISK, env: { OPS_PORT: '0' } })
  const countFailures = () => countFailedCommits(service)
  {
    using db = new Database(toListFile(folder))
    // Also behind a slice of compaction, which may have the lock now.
    db.run('PRAGMA busy_timeout = 30000')
    db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  }
  // What recovers the log has nothing to write: only the probe itself meets the full disk.
  takeSpace(service.process.pid)
  expect((await service.subscribe('full@site.io')).status).toBe(500)
  const failures = await countFailures()
  await until(async () => (await countFailures()) > failures || service.log().includes('has recovered'), 'a probe ends')
  expect(service.log()).not.toContain('has recovered')
  expect((await service.ops('/readyz')).status).toBe(503)
  giveSpace(service.process.pid)
  await service.logged('the store has recovered')
  expect((await service.subscribe('full@site.io')).status).toBe(200)
  expect(await service.stop()).toBe(0)
})

test('the metric of free space is that of the disk to which a link leads', async () => {
  // A disk of its own, in memory.
  const other = await mkdtemp('/dev/shm/rollcall-')
  onTestFinished(() => rm(other, { recursive: true }))
  const folder = await createFolder()
  await symlink(join(other, 'list.db'), join(folder, 'list.db'))
  const service = await startService({ folder, env: { OPS_PORT: '0', DATABASE_URL: 'sqlite:list.db' } })
  await service.logged(`${other} is in memory (tmpfs or ramfs), and the list is gone when the machine restarts`)
  const measure = async () => {
    const metrics = await (await service.ops('/metrics')).text()
    return Number(/^rollcall_disk_free_bytes (.*)$/m.exec(metrics)?.[1])
  }
  // Other programs may use the disk meanwhile, so both are read until they agree.
  const step = 16 * 1024 * 1024
  const isTheirs = async () =>
    Math.floor(statfsSync(other).bavail / (step / statfsSync(other).bsize)) * step === (await measure())
  await until(isTheirs, 'the metric has the free space of the other disk')
  expect(await service.stop()).toBe(0)
})

test('the log that a killed service left cannot be moved: nothing is confirmed behind it', async () => {
  const folder = await realpath(await createFolder())
  const killed = await startService({ folder })
  expect((await killed.subscribe('ada@site.io')).status).toBe(200)
  await killed.stop('SIGKILL')
  const counter = await createSyncCounter()
  counter.failCallsOf('pwrite', toListFile(folder))
  const service = await startService({ folder, env: counter.env })
  expect((await service.subscribe('bob@site.io')).status).toBe(500)
  counter.failCallsOf('pwrite', undefined)
  await service.logged('the store has recovered')
  expect((await service.subscribe('cyd@site.io')).status).toBe(200)
  expect(await service.stop()).toBe(0)
  expect(await readList(folder)).toEqual(expect.arrayContaining(['ada@site.io', 'cyd@site.io']))
})

test.each([
  ['sync', '-wal', 'the disk reports an error"'],
  ['pwrite', '-wal', 'the disk reports an error, or a quota or a limit on the size of a file is reached"'],
  // SQLite reports a failed read as a damaged file.
  ['pread', '', 'it is damaged, or the disk cannot read it: restore a backup"'],
] as const)('the service recovers when %s failed with EIO', async (call, suffix, reason) => {
  const folder = await realpath(await createFolder())
  const counter = await createSyncCounter()
  const service = await startService({ folder, env: counter.env })
  const file = toListFile(folder)
  {
    // The service must read the file again.
    using db = new Database(file)
    db.run('INSERT INTO suppressions VALUES (randomblob(32), 0)')
    db.run('PRAGMA wal_checkpoint(PASSIVE)')
  }
  counter.failCallsOf(call, file + suffix)
  expect((await service.subscribe('ada@site.io')).status).toBe(500)
  await service.logged(`the list cannot be used: ${reason}`)
  expect(service.log()).not.toContain('the writer thread')
  counter.failCallsOf(call, undefined)
  await service.logged('the store has recovered')
  expect((await service.subscribe('ada@site.io')).status).toBe(200)
  expect(await service.stop()).toBe(0)
  expect(await readList(folder)).toEqual(['ada@site.io'])
})
