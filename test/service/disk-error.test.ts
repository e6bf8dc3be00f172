/** A disk with errors: requests get 500, the log names the cause, and the service recovers without a restart. */

import { Database } from 'bun:sqlite'
import { expect, onTestFinished, test } from 'bun:test'
import { realpath, rm } from 'node:fs/promises'
import { readList, toListFile } from '../support/list-file.ts'
import { createFolder, startService } from '../support/service.ts'
import { createSyncCounter } from '../support/sync-counter.ts'

async function createPlace(): Promise<string> {
  const folder = await realpath(await createFolder())
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
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
    db.run('INSERT INTO suppressions VALUES (randomblob(32), 0)')
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
