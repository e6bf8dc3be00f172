/** Archives: an executable for Linux with the other files of an installation. The paths are those below /usr/local. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { $ } from 'bun'
import { writeInstallation } from './installation.ts'
import { ROOT } from './origin.ts'

/** Packs executables: by default those of `dist/`. Ends the process if there is none. */
export async function buildArchives(named: readonly string[]): Promise<void> {
  const built = new Bun.Glob('dist/rollcall-linux-*[!z]').scanSync({ cwd: ROOT, absolute: true })
  const files = named.length > 0 ? named.map((file) => resolve(file)) : [...built]
  if (files.length === 0) {
    console.error('there is no executable for Linux in dist/: run `npm run build` first')
    process.exit(1)
  }
  for (const file of files) await writeArchive(file)
}

/** Packs an executable into a .tar.gz next to it. */
export async function writeArchive(executable: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-archive-'))
  const paths = writeInstallation(folder, executable, '/usr/local')
  const file = `${executable}.tar.gz`
  // Files without their folders: as root, tar would change the mode of folders that exist.
  await $`tar --create --gzip --owner=0 --group=0 --numeric-owner --mode=go-w --file ${file} --directory ${folder} ${paths}`
  rmSync(folder, { recursive: true })
  console.log(`${basename(file)}: ${Math.round(Bun.file(file).size / 1e6)} MB`)
}
