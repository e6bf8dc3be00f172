/**
 * The browser of the tests, unpacked once. Its package unpacks to the folder of all temporary files, and uses what is there: a
 * file of another user, or one that another process has not written to its end. `npm test` unpacks it first; a single file does
 * when it is missing.
 */

import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './paths.ts'

// `npm ci` deletes it, so it is of the version that is installed.
const FOLDER = join(ROOT, 'node_modules/.cache/chromium')

/** The path of the executable. */
export const CHROMIUM = join(FOLDER, 'chromium')

if (!existsSync(CHROMIUM)) unpack()

function unpack(): void {
  const partial = `${FOLDER}.${process.pid}`
  mkdirSync(partial, { recursive: true })
  const script = `import chromium from '@sparticuz/chromium'; await chromium.executablePath()`
  const env = { ...process.env, TMPDIR: partial }
  const { success, stderr } = Bun.spawnSync([process.execPath, '-e', script], { cwd: ROOT, env })
  if (!success) throw new Error(`the browser for the tests cannot be unpacked: ${stderr}`)
  try {
    renameSync(partial, FOLDER)
  } catch (error) {
    rmSync(partial, { recursive: true })
    // Another process was first.
    if (!existsSync(CHROMIUM)) throw error
  }
}
