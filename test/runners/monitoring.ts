/** `npm run test:only -- monitoring`: promtool checks deploy/alerts.yml, and runs the tests in alerts.test.yml. */

import { expect, test } from 'bun:test'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findProgram, ROOT } from '../support/paths.ts'
import { createFolder } from '../support/workspace.ts'

test.each([
  ['check', 'alerts.yml'],
  ['test', 'alerts.test.yml'],
])('promtool %s rules %s', async (verb, file) => {
  const folder = await createFolder()
  await copyFile(join(ROOT, 'deploy/alerts.yml'), join(folder, 'alerts.yml'))
  await copyFile(join(import.meta.dir, 'alerts.test.yml'), join(folder, 'alerts.test.yml'))
  const promtool = findProgram('promtool') ?? 'promtool'
  const { exitCode, stdout, stderr } = Bun.spawnSync([promtool, verb, 'rules', file], { cwd: folder })
  expect([exitCode, exitCode === 0 ? '' : `${stdout}${stderr}`]).toEqual([0, ''])
})
