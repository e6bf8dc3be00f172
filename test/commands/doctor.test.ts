import { expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCliFixture } from '../support/cli-fixture.ts'
import { runCommand, startService } from '../support/service.ts'

test('a line for each check, ok or what to do, and the exit code says whether something is wrong', async () => {
  const { folder, print, run } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  const lines = (await print(['doctor'])).trimEnd().split('\n')
  expect(lines.filter((line) => !/^[a-z .]+ +ok: ./.test(line))).toEqual([])

  chmodSync(join(folder, 'list.db'), 0o644)
  const { code, stdout, stderr } = await run(['doctor', '--json'])
  const { list, ok, checks } = JSON.parse(stdout) as { list: string; ok: boolean; checks: { ok: boolean }[] }
  expect({ code, stderr }).toEqual({ code: 1, stderr: `rollcall: 1 check of ${checks.length} found something wrong\n` })
  expect({ list, ok }).toEqual({ list: `sqlite:${folder}/list.db`, ok: false })
  const found = { check: 'file modes', ok: false, message: expect.stringContaining('chmod 600') }
  expect(checks.filter((check) => !check.ok)).toEqual([found])
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
  const { folder } = service
  const env = { OPS_PORT: String(service.opsPort), BASE_URL: 'http://127.0.0.1:3000' }
  const doctor = async (more: Record<string, string> = {}) =>
    (await runCommand(['doctor'], { folder, env: { ...env, ...more } })).stdout
  const sound = await doctor()
  expect(sound).toContain('\nservice        ok: it runs with these settings\n')
  expect(sound).toContain(`\npartial files  ok: none in ${folder}\n`)
  const left = `.list.csv.${Bun.spawnSync(['true']).pid}.partial`
  writeFileSync(join(folder, left), '')
  const other = await doctor({ BASE_URL: 'http://other.example', DATABASE_URL: 'sqlite:other.db' })
  expect(other).toContain(
    `service        wrong: it runs with BASE_URL http://127.0.0.1:3000, and not http://other.example; and with the list sqlite:${folder}/data/rollcall.db, and not sqlite:${folder}/other.db: give this command the settings of the service`,
  )
  expect(other).toContain(`wrong: killed commands left files with addresses: delete ${left}\n`)
  await service.stop()
  expect((await runCommand(['doctor'], { env })).stdout).toContain('service        ok: it does not run\n')
})

test('a cursor is compared with the list, and what is left next to its file is found', async () => {
  const { folder, print, run } = await createCliFixture()
  mkdirSync(join(folder, 'state'))
  await print(['import', '-'], 'ada@site.io\n')
  await print(['export', '--cursor-file', 'state/cursor'])
  const doctor = async () => (await run(['doctor', '--cursor-file', 'state/cursor'])).stdout
  expect(await doctor()).toMatch(/^cursor +ok: state\/cursor: an export continues after \d+$/m)
  writeFileSync(join(folder, 'state/cursor'), '1 0123456789abcdef\n')
  const left = `state/.cursor.${Bun.spawnSync(['true']).pid}.partial`
  writeFileSync(join(folder, left), '')
  const wrong = await doctor()
  expect(wrong).toMatch(/^cursor +wrong: the cursor 1 belongs to another list/m)
  expect(wrong).toContain(`delete ${left}\n`)
  expect((await run(['doctor', '--cursor-file', 'none'])).stdout).toMatch(
    /^cursor +wrong: none: there is no such file/m,
  )
})
