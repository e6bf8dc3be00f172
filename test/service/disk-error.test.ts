/** A disk with errors: requests get 500, the log names the cause, and the service recovers without a restart. */

import { Database } from 'bun:sqlite'
import { expect, onTestFinished, test } from 'bun:test'
import { realpath, rm } from 'node:fs/promises'
import { readList, readProgress, toListFile } from '../support/list-file.ts'
import { createFolder, runCommand, startService } from '../support/service.ts'
import { createSyncCounter } from '../support/sync-counter.ts'
import { until } from '../support/wait.ts'

async function createPlace(): Promise<string> {
  const folder = await realpath(await createFolder())
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/**
 * Writes the pages that the service needs to accept an address. It must read them again, and finds them in the log (WAL).
 * It reads all other pages from the list.
 */
function touchInbox(file: string): void {
  using db = new Database(file)
  db.transaction(() => {
    const version = db.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version
    db.run(`PRAGMA user_version = ${version}`)
    db.run('UPDATE inbox SET accepted_at = accepted_at + 1')
  }).immediate()
}

test.each([
  ['sync', '-wal', 'the disk reports an error"'],
  ['pwrite', '-wal', 'the disk reports an error, or a quota or a limit on the size of a file is reached"'],
  // SQLite reports a failed read as a damaged file.
  ['pread', '', 'it is damaged, or the disk cannot read it"'],
] as const)('%s fails with EIO', async (call, suffix, reason) => {
  const folder = await createPlace()
  const counter = await createSyncCounter()
  const service = await startService({ folder, env: counter.env })
  const file = toListFile(folder)
  {
    // The service must read the file again.
    using db = new Database(file)
    db.run('INSERT OR REPLACE INTO suppressions SELECT randomblob(32), id, 0 FROM suppression_keys')
    db.run('PRAGMA wal_checkpoint(PASSIVE)')
  }
  counter.failCallsOf(call, file + suffix)
  expect((await service.subscribe('ada@site.io')).status).toBe(500)
  await service.logged(`the list cannot be written: ${reason}`)
  expect(service.log()).not.toContain('the writer thread')
  counter.failCallsOf(call, undefined)
  await service.logged('the store has recovered')
  expect((await service.subscribe('ada@site.io')).status).toBe(200)
  expect(await service.stop()).toBe(0)
  expect(await readList(folder)).toEqual(['ada@site.io'])
})

test('the list cannot be read, but its log can: requests get 200, and compaction waits for the disk', async () => {
  const folder = await createPlace()
  const file = toListFile(folder)
  const env = { DATABASE_URL: `sqlite:${file}` }
  expect((await runCommand(['import', '-'], { env, stdin: 'ada@site.io\nbob@site.io\n' })).code).toBe(0)
  const counter = await createSyncCounter()
  const service = await startService({ folder, env: counter.env })
  touchInbox(file)
  counter.failCallsOf('pread', file)
  for (const email of ['cy@site.io', 'di@site.io', 'ed@site.io']) {
    expect((await service.subscribe(email)).status).toBe(200)
  }
  // The thread reads the list after each address, and when it compacts 2 s later.
  const start = performance.now()
  const countFailed = () => counter.events().filter(({ call }) => call === 'pread').length
  const seen = { failed: 0, at: start }
  await until(() => {
    const failed = countFailed()
    if (failed > seen.failed) Object.assign(seen, { failed, at: performance.now() })
    return seen.at > start + 3_000
  }, 'compaction fails a second time')
  expect(readProgress(file).appended).toBe(2)
  counter.failCallsOf('pread', undefined)
  // Without another request: the service tries again by itself.
  await until(() => readProgress(file).appended === 5)
  expect(service.log()).not.toContain('"level":50')
  expect(await service.stop()).toBe(0)
  expect(await readList(folder)).toEqual(['ada', 'bob', 'cy', 'di', 'ed'].map((name) => `${name}@site.io`))
})
