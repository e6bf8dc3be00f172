/** A full disk: 500 storage_failure while it lasts, documents all the same, and 200 again without a restart. */

import { expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { giveSpace, SMALL_DISK, takeSpace } from '../support/disk.ts'
import { createLedger, expectKept, post, until } from '../support/load.ts'
import { createFolder, startService } from '../support/service.ts'

test('the disk is full, and has space again', async () => {
  const folder = await createFolder()
  const ledger = createLedger()
  const service = await startService({ folder, launcher: SMALL_DISK, env: { OPS_PORT: '0' } })
  const ops = (path: string) => fetch(`http://127.0.0.1:${service.opsPort}${path}`)
  const readyz = async () => (await ops('/readyz')).status
  expect(await readyz()).toBe(200)

  await post(service, ledger)
  expect(ledger.acknowledged.size).toBeGreaterThan(100)
  // What is left may do for one address, where it did not for a batch.
  takeSpace(service.process.pid)
  ledger.sent.add('full@example.org')
  const refused = await service.subscribe('full@example.org')
  expect(refused.status).toBe(500)
  expect(JSON.parse(refused.body)).toMatchObject({ ok: false, message: 'storage_failure' })
  expect(await readyz()).toBe(503)
  expect((await service.request('/openapi.json')).status).toBe(200)
  expect(service.log().match(/the store fails/g)?.length).toBeLessThan(ledger.failed / 8)
  expect(service.log()).toContain('the list cannot be written: the disk is full')

  expect(await (await ops('/metrics')).text()).toMatch(
    /commit_duration_seconds_count\{outcome="failed"\} [1-9]/,
  )

  // Nobody posts, so it is the service itself that finds the space.
  giveSpace(service.process.pid)
  while ((await readyz()) !== 200) await Bun.sleep(20)
  await until(() => service.log().endsWith('"msg":"the store has recovered"}\n'))
  const load = post(service, ledger)
  const goal = ledger.answered + 1_000
  await until(() => ledger.answered >= goal)
  expect(await service.stop()).toBe(0)
  await load
  await expectKept(folder, ledger)
  await rm(folder, { recursive: true })
})
