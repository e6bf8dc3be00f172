/** Compaction that fails beside a service that accepts: one line in the log, a metric, and one line when it works again. */

import { Database } from 'bun:sqlite'
import { expect, onTestFinished, test } from 'bun:test'
import { countCompacted, readList, toListFile } from '../support/list-file.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/wait.ts'

async function start() {
  const service = await startService({ env: { OPS_PORT: '0' } })
  onTestFinished(async () => void (await service.stop('SIGKILL')))
  const readMetric = async (name: string) => {
    const text = await (await service.ops('/metrics')).text()
    return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1])
  }
  return { ...service, file: toListFile(service.folder), readMetric }
}

test('compaction fails: the log says so once, a metric is 1, and addresses are accepted and moved later', async () => {
  const { file, folder, subscribe, log, logged, readMetric } = await start()
  using db = new Database(file)
  db.run('PRAGMA busy_timeout = 5000')
  db.run(`CREATE TRIGGER broken BEFORE INSERT ON subscribers BEGIN SELECT raise(ABORT, 'broken'); END`)
  for (const name of ['ann', 'bob']) expect((await subscribe(`${name}@mail.io`)).status).toBe(200)
  await logged('compaction fails: addresses stay in the inbox until it works: the list')
  await logged('broken')
  expect(await readMetric('rollcall_compaction_failing')).toBe(1)
  expect(await readMetric('rollcall_inbox_age_seconds')).toBeGreaterThan(0)
  expect((await subscribe('cyd@mail.io')).status).toBe(200)
  db.run('DROP TRIGGER broken')
  await logged('compaction works again')
  await until(() => countCompacted(file) === 3, 'the service compacts the inbox')
  expect(await readMetric('rollcall_compaction_failing')).toBe(0)
  expect(log().match(/compaction fails/g)).toHaveLength(1)
  expect(await readList(folder)).toEqual(['ann@mail.io', 'bob@mail.io', 'cyd@mail.io'])
})

test('steady traffic is compacted: no address waits for much longer than 10 s', async () => {
  const { file, subscribe, readMetric } = await start()
  await until(async () => (await readMetric('rollcall_inbox_age_seconds')) === 0, 'the first run has ended')
  let sent = 0
  await until(async () => {
    // Never 250 ms without a commit, unless the machine stands still: then this test shows nothing.
    expect((await subscribe(`caller${sent++}@mail.io`)).status).toBe(200)
    return countCompacted(file) > 50
  }, 'the service compacts beside commits')
  expect(await readMetric('rollcall_inbox_age_seconds')).toBeLessThan(20)
})
