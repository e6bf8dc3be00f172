/** The writer thread ends unexpectedly: the process ends with exit code 1, and no confirmed address is lost. */

import { expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, rmSync, statfsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createLog } from '../../../src/log.ts'
import { openSqliteThread } from '../../../src/store/sqlite/thread.ts'
import { createLedger, expectKept, postUntilFailure } from '../../support/load.ts'
import { PRELOADED, startService } from '../../support/service.ts'
import { until } from '../../support/wait.ts'
import { createFolder } from '../../support/workspace.ts'

test('the thread ends under load, again and again', async () => {
  const folder = await createFolder()
  const ledger = createLedger()
  for (let end = 1; end <= 3; end++) {
    const service = await startService({ folder, env: PRELOADED })
    const goal = ledger.answered + 500
    const load = postUntilFailure(service, ledger)
    await until(() => ledger.answered >= goal)
    service.process.kill('SIGUSR2')
    expect(await service.process.exited).toBe(1)
    await load
    expect(service.log().match(/"level":50/g)).toHaveLength(1)
    expect(service.log()).toContain('the writer thread has ended, so the service ends')
  }
  await expectKept(folder, ledger)
})

test('the free space is that of the disk of a linked list, not of the link', async () => {
  // Two file systems on every Linux.
  const real = mkdtempSync('/dev/shm/rollcall-test-')
  onTestFinished(() => rmSync(real, { recursive: true }))
  const link = join(await createFolder(), 'link.db')
  symlinkSync(join(real, 'list.db'), link)
  const store = await openSqliteThread(link, createLog('silent'))
  const { freeBytes } = await store.measure()
  await store.close()
  const [shm, tmp] = [real, join(link, '..')]
    .map((folder) => statfsSync(folder))
    .map(({ bavail, bsize }) => bavail * bsize)
  expect(Math.abs(freeBytes! - shm!)).toBeLessThan(Math.abs(freeBytes! - tmp!))
})
