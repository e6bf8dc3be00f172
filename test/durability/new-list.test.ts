/** A new list is on stable storage before the service listens: its file, and each folder that was created for it. */

import { expect, onTestFinished, test } from 'bun:test'
import { realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createFolder, runCommand, startService } from '../support/service.ts'
import { createSyncCounter } from '../support/sync-counter.ts'

async function createPlace(): Promise<string> {
  const folder = await realpath(await createFolder())
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

test('every folder that holds a new folder or the new file is synced', async () => {
  const folder = await createPlace()
  const counter = await createSyncCounter()
  const service = await startService({ folder, env: { ...counter.env, DATABASE_URL: 'sqlite:a/b/list.db' } })
  const counts = ['', 'a', 'a/b', 'a/b/list.db'].map((path) => counter.count(join(folder, path)))
  await service.stop('SIGKILL')
  for (const count of counts) expect(count).toBeGreaterThan(0)
})

// SQLite syncs the folder of its journal too, but ignores an error.
test.each(['', 'a', 'a/b'])('a new list is refused when the folder "%s" cannot be synced', async (path) => {
  const folder = await createPlace()
  const counter = await createSyncCounter()
  counter.failSyncsOf(join(folder, path))
  const env = {
    ...counter.env,
    PORT: '0',
    BASE_URL: 'http://127.0.0.1:3000',
    DATABASE_URL: 'sqlite:a/b/list.db',
  }
  const { code, stderr } = await runCommand(['serve'], { folder, env })
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('the disk reports an error') })
})
