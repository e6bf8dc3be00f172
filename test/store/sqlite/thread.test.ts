/** The writer thread ends unexpectedly: the process ends with exit code 1, and no confirmed address is lost. */

import { Database } from 'bun:sqlite'
import { expect, onTestFinished, test } from 'bun:test'
import { statSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { Address } from '../../../src/email.ts'
import { createLog } from '../../../src/log.ts'
import { LOG_BYTES } from '../../../src/store/sqlite/checkpoint.ts'
import { SLICE_MS } from '../../../src/store/sqlite/compaction.ts'
import { closeList, openListFile } from '../../../src/store/sqlite/file.ts'
import { append } from '../../../src/store/sqlite/inbox.ts'
import { openSqliteThread } from '../../../src/store/sqlite/thread.ts'
import { countCompacted, toListFile } from '../../support/list-file.ts'
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

test('compaction waits for a long reader, whose end would let one commit move all that compaction has changed', async () => {
  const file = join(await createFolder(), 'list.db')
  const store = await openSqliteThread(file, createLog('silent'))
  onTestFinished(() => store.close())
  using reader = new Database(file, { readonly: true })
  reader.run('BEGIN')
  reader.query('SELECT count(*) FROM subscribers').get()
  using writer = new Database(file)
  writer.run('PRAGMA synchronous = OFF')
  // Each commit writes a page, and the reader keeps all of them in the log.
  while (statSync(`${file}-wal`).size <= LOG_BYTES) writer.run('UPDATE list SET last_seq = last_seq + 1')
  await store.add(['a@site.io' as Address])
  // The time is the subject: without a reader, compaction would begin in a quarter of it, and nothing else shows that it waits.
  await Bun.sleep(1_000)
  expect(countCompacted(file)).toBe(0)
  reader.run('COMMIT')
  const freed = performance.now()
  await until(() => countCompacted(file) === 1)
  expect(performance.now() - freed).toBeLessThan(10_000)
})

test('a service that finds no list says that it creates one, and where', async () => {
  const folder = await createFolder()
  const warnings = (log: string) => log.split('\n').filter((line) => line.includes('"level":40'))
  const service = await startService({ folder })
  await service.stop()
  const created = `a new, empty list was created: ${toListFile(await realpath(folder))}; if there was a list, stop the service`
  expect(warnings(service.log())).toEqual([expect.stringContaining(created)])
  const again = await startService({ folder })
  await again.stop()
  expect(warnings(again.log())).toEqual([])
})

test('a slice of compaction takes its time, whatever it does', async () => {
  const file = join(await createFolder(), 'list.db')
  const list = openListFile(file)
  list.db.run('PRAGMA synchronous = OFF')
  for (let row = 0; row < 2_000; row++) append(list.db, JSON.stringify([`user.${row}@site.io`]))
  closeList(list)
  const start = performance.now()
  const store = await openSqliteThread(file, createLog('silent'))
  onTestFinished(() => store.close())
  await until(() => countCompacted(file) === 2_000)
  // Compaction starts after 250 ms. A slice is at most twice as large as the one before: six sort, three add and six move. A slow
  // machine takes longer. Without a minimum, the slices take about 50 ms together. The last one writes before its rest.
  expect(performance.now() - start).toBeGreaterThanOrEqual(250 + 14 * SLICE_MS)
})
