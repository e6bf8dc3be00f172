/**
 * The root file system of the image. The first stage of the Containerfile writes it: the libraries that the executable needs
 * are those of that stage.
 */

import { cpSync, existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { $ } from 'bun'
import { buildExecutable, HOST_TARGET } from './executable.ts'
import { readNotices } from './notices.ts'
import { ROOT } from './origin.ts'

const FOLDER = join(ROOT, 'dist/image')
/** Where Debian has the license of the libraries that the executable loads. */
const LIBC_LICENSE = '/usr/share/doc/libc6/copyright'

/** The user of the service, to whom the folder of the list belongs (see the Containerfile), and the licenses. */
const createFiles = async (): Promise<Record<string, string>> => ({
  'etc/passwd': 'rollcall:x:65532:65532::/data:/\n',
  'etc/group': 'rollcall:x:65532:\n',
  'etc/nsswitch.conf': 'hosts: files dns\n',
  'usr/share/doc/rollcall/LICENSE': await Bun.file(join(ROOT, 'LICENSE')).text(),
  'usr/share/doc/rollcall/THIRD-PARTY-NOTICES': readNotices(),
})

/** Writes it to `dist/image/`. REVISION in the environment is the commit. */
export async function buildImage(): Promise<void> {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(join(FOLDER, 'data'), { recursive: true })
  const executable = join(FOLDER, 'app/rollcall')
  await buildExecutable(HOST_TARGET, executable)
  // The paths of the libraries that it loads, with the loader.
  for (const [, library = ''] of (await $`ldd ${executable}`.text()).matchAll(/(\/\S+) \(0x/g)) {
    add(library, (file) => cpSync(realpathSync(library), file))
  }
  if (existsSync(LIBC_LICENSE)) add(LIBC_LICENSE, (file) => cpSync(LIBC_LICENSE, file))
  for (const [path, text] of Object.entries(await createFiles())) add(path, (file) => writeFileSync(file, text))
  console.log('dist/image/ is ready')
}

function add(path: string, write: (file: string) => void): void {
  const file = join(FOLDER, 'root', path)
  mkdirSync(dirname(file), { recursive: true })
  write(file)
}
