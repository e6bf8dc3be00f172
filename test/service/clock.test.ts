/** A machine without a clock of its own, such as a Raspberry Pi: it starts in 1970, until a time server answers. */

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCliFixture } from '../support/cli-fixture.ts'
import { RESPONSES } from '../support/contract.ts'
import { readList } from '../support/list-file.ts'
import { PRELOADED, runCommand, startService } from '../support/service.ts'
import { until } from '../support/wait.ts'
import { createFolder } from '../support/workspace.ts'

test('the service accepts nobody before the clock is set, says so, and goes on by itself', async () => {
  const folder = await createFolder()
  const clock = join(folder, '1970')
  writeFileSync(clock, '')
  const service = await startService({ folder, env: { ...PRELOADED, WRONG_CLOCK: clock, OPS_PORT: '0' } })
  // Also when nobody asks.
  await service.logged('the service is not ready')
  expect(service.log()).toContain('the clock is before 2026, when Rollcall was released')
  const { status, body } = await service.subscribe('eve@site.io')
  expect([status, body]).toEqual([500, RESPONSES.store_failed.body])
  expect((await service.ops('/readyz')).status).toBe(503)
  expect((await service.request('/llms.txt')).status).toBe(200)
  rmSync(clock)
  await until(async () => (await service.ops('/readyz')).status === 200, 'the service is ready')
  expect((await service.subscribe('eve@site.io')).status).toBe(200)
  expect(service.log().match(/the clock is before 2026/g)?.length).toBeLessThan(3)
  expect(await service.stop()).toBe(0)
  expect(await readList(folder)).toEqual(['eve@site.io'])
})

test('a command changes no list before the clock is set', async () => {
  const { folder, list, print, rows } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  const clock = join(folder, '1970')
  writeFileSync(clock, '')
  for (const verb of ['import', 'remove']) {
    const env = { ...PRELOADED, WRONG_CLOCK: clock, DATABASE_URL: list }
    const { code, stderr } = await runCommand([verb, '-'], { env, folder, stdin: 'bob@site.io\n' })
    expect([code, stderr]).toEqual([1, expect.stringContaining('the clock is before 2026')])
  }
  expect(await rows()).toHaveLength(1)
})

test('doctor names dates of a clock that was not set, and its command replaces them', async () => {
  const { folder, print, rows, run, shell } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\nEve+x@site.io\n')
  {
    using db = new Database(join(folder, 'list.db'))
    db.run(`UPDATE subscribers SET subscribed_at = 300000 WHERE email = 'Eve+x@site.io'`)
  }
  const { code, stdout } = await run(['doctor'])
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^dates +wrong: .* is of 1970-01-01T00:05:00.000Z/m)])
  const [, command = ''] = /^dates .* run: (.*)$/m.exec(stdout) ?? []
  // Its last step fails, and the owner runs all of it again.
  const broken = command.replace(/&& rollcall import .*/, '&& false')
  expect((await shell(broken)).code).toBe(1)
  expect((await rows()).map(({ email }) => email)).toEqual(['ada@site.io'])
  expect((await shell(command)).code).toBe(0)
  expect((await rows()).map(({ email }) => email)).toEqual(['ada@site.io', 'Eve+x@site.io'])
  expect((await run(['doctor'])).stdout).toMatch(/^dates +ok/m)
})
