/**
 * `npm run test:only -- monitoring`: checks deploy/alerts.yml with promtool, and runs the tests in alerts.test.yml.
 * Exit code 1 when one fails.
 */

import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findProgram, ROOT } from '../support/paths.ts'
import { createFolder } from '../support/workspace.ts'

const folder = await createFolder()
await copyFile(join(ROOT, 'deploy/alerts.yml'), join(folder, 'alerts.yml'))
await copyFile(join(import.meta.dir, 'alerts.test.yml'), join(folder, 'alerts.test.yml'))
const promtool = findProgram('promtool') ?? 'promtool'
const codes = [
  ['check', 'rules', 'alerts.yml'],
  ['test', 'rules', 'alerts.test.yml'],
].map((args) => Bun.spawnSync([promtool, ...args], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] }).exitCode)
process.exit(codes.every((code) => code === 0) ? 0 : 1)
