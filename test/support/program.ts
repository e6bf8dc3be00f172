/**
 * The program that tests start: an executable of the sources as they are, because it starts in a third of the time that the
 * sources need. `npm test` builds it first; a single file builds it when it is out of date. The sources themselves run in
 * package.test.ts and in blocks.test.ts, as `npm start`.
 */

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './paths.ts'

const FOLDER = join(ROOT, 'test/.program')
const SOURCES = ['src', 'build/executable.ts', 'build/bundle.ts', 'deploy/env', 'deploy/site.yaml', 'package-lock.json']

/** The path of the executable. It is built while a test file loads, because a test has a limit on its time. */
export const PROGRAM = toFile()

if (import.meta.main) await build(PROGRAM)
else if (!existsSync(PROGRAM)) {
  const { success, stderr } = Bun.spawnSync([process.execPath, import.meta.path], { stdout: 'ignore' })
  if (!success) throw new Error(`the executable for the tests cannot be built: ${stderr}`)
}

async function build(file: string): Promise<void> {
  if (existsSync(file)) return
  const { buildExecutable, HOST_TARGET } = await import('../../build/executable.ts')
  // Several processes of a run may build at once. None removes what another one is about to use.
  const partial = join(FOLDER, `partial.${process.pid}`)
  for (const name of existsSync(FOLDER) ? readdirSync(FOLDER) : []) {
    if (!name.startsWith('partial.') && join(FOLDER, name) !== file) rmSync(join(FOLDER, name), { force: true })
  }
  mkdirSync(FOLDER, { recursive: true })
  // A build that is killed leaves a file in the working folder.
  process.chdir(FOLDER)
  await buildExecutable(HOST_TARGET, partial, undefined)
  renameSync(partial, file)
}

/** Returns the path of the executable of the present sources: their paths, sizes and times are its name. */
function toFile(): string {
  const files = SOURCES.flatMap((name) => {
    const path = join(ROOT, name)
    return statSync(path).isDirectory() ? [...new Bun.Glob('**/*').scanSync({ cwd: path, absolute: true })] : [path]
  })
  const states = files.toSorted().map((path) => [path, statSync(path).size, statSync(path).mtimeMs])
  return join(FOLDER, Bun.hash(JSON.stringify(states)).toString(36))
}
