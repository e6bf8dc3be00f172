/** The script of deploy/ that tries a backup. */

import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { mkdir, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { createCliFixture } from '../support/cli-fixture.ts'
import { CLI, ROOT } from '../support/paths.ts'

async function createBackup() {
  const fixture = await createCliFixture()
  const { folder, print } = fixture
  await print(['import', '-'], 'ada@site.io\nbob@site.io\n')
  await print(['remove', 'bob@site.io'])
  const backup = join(folder, 'backup.db')
  await print(['backup', backup])
  await mkdir(join(folder, 'tmp'))
  async function drill(file: string) {
    const command = ['sh', join(ROOT, 'deploy/restore-drill.sh'), file, process.execPath, CLI]
    const env = { PATH: process.env.PATH ?? '', TMPDIR: join(folder, 'tmp') }
    const child = Bun.spawn(command, { cwd: folder, env, stdout: 'pipe', stderr: 'pipe' })
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    return { stdout, stderr, code, left: readdirSync(join(folder, 'tmp')) }
  }
  return { ...fixture, backup, drill }
}

test('a good backup: exit code 0, its counts, and nothing is left', async () => {
  const { backup, drill, rows } = await createBackup()
  const { stdout, code, left } = await drill(backup)
  expect({ code, left }).toEqual({ code: 0, left: [] })
  expect(stdout).toEndWith('{"subscribers":1,"reserved":0,"suppressed":1}\n')
  expect((await rows()).length).toBe(1)
})

test('a damaged backup, and one that does not exist: exit code 1, the reason, and nothing is left', async () => {
  const { backup, drill } = await createBackup()
  await truncate(backup, 8_192)
  const damaged = await drill(backup)
  expect(damaged).toMatchObject({ code: 1, left: [] })
  expect(damaged.stderr).toContain('rollcall: ')
  expect(await drill('none.db')).toMatchObject({ code: 1, left: [] })
})
