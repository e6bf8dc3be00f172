import { expect, test } from 'bun:test'
import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CheckResult } from '../../src/store/check.ts'
import { createCliFixture } from '../support/cli-fixture.ts'
import { runCommand, startService } from '../support/service.ts'

interface Report {
  readonly list: string
  readonly ok: boolean
  readonly checks: readonly CheckResult[]
}

test('a line for each check, ok or what to do, and the exit code says whether something is wrong', async () => {
  const { folder, print, run } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  const lines = (await print(['doctor'])).trimEnd().split('\n')
  expect(lines.filter((line) => !/^[a-z .]+ +ok: ./.test(line))).toEqual([])

  chmodSync(join(folder, 'list.db'), 0o644)
  const { code, stdout, stderr } = await run(['doctor', '--json'])
  const { list, ok, checks } = JSON.parse(stdout) as Report
  expect({ code, stderr }).toEqual({ code: 1, stderr: `rollcall: 1 check of ${checks.length} found something wrong\n` })
  expect({ list, ok }).toEqual({ list: `sqlite:${folder}/list.db`, ok: false })
  expect(checks.filter((check) => !check.ok)).toEqual([
    { check: 'file modes', ok: false, message: expect.stringContaining('chmod 600') },
  ])
})

test('invalid settings and a missing list are reported, and nothing is created', async () => {
  const { folder } = await createCliFixture()
  const doctor = (env: Record<string, string>) => runCommand(['doctor'], { folder, env })
  const { code, stdout } = await doctor({ SITE_FILE: 'none.yaml' })
  expect(code).toBe(1)
  expect(stdout).toMatch(/^settings +wrong: SITE_FILE is "none.yaml"/m)
  expect(stdout).toMatch(/^list +wrong: there is no list at .*data\/rollcall.db/m)
  expect(readdirSync(folder)).toEqual([])

  const invalid = await doctor({ DATABASE_URL: 'mysql://user:secret@host/db' })
  expect(invalid.code).toBe(1)
  expect(invalid.stdout).toMatch(/^settings +wrong: DATABASE_URL is "mysql:/)
  expect(invalid.stdout).not.toContain('secret')
})

test('a running service with another BASE_URL or another list is named, and what killed commands left', async () => {
  const service = await startService({ env: { OPS_PORT: '0' } })
  const env = { OPS_PORT: String(service.opsPort), BASE_URL: 'http://127.0.0.1:3000' }
  const { folder } = service
  const doctor = async (more: Record<string, string> = {}) => {
    const { stdout } = await runCommand(['doctor'], { folder, env: { ...env, ...more } })
    return stdout.split('\n').filter((line) => /^(service|partial files) /.test(line))
  }
  expect(await doctor()).toEqual([
    'service        ok: it runs with these settings',
    'partial files  ok: none in the working folder',
  ])
  const ended = Bun.spawnSync(['true']).pid
  writeFileSync(join(folder, `.list.csv.${ended}.partial`), '')
  const [running, partial] = await doctor({ BASE_URL: 'http://other.example', DATABASE_URL: 'sqlite:other.db' })
  expect(running).toBe(
    `service        wrong: it runs with BASE_URL http://127.0.0.1:3000, and not http://other.example; and with the list sqlite:${folder}/data/rollcall.db, and not sqlite:${folder}/other.db: give this command the settings of the service`,
  )
  expect(partial).toBe(
    `partial files  wrong: killed commands left files with addresses here: delete .list.csv.${ended}.partial`,
  )
  await service.stop()
  expect((await runCommand(['doctor'], { env })).stdout).toContain('service        ok: it does not run\n')
})
