/**
 * The root file system of the image. The first stage of the Containerfile writes it: the libraries that the executable needs
 * are those of that stage.
 */

import { cpSync, existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { $ } from 'bun'
import { buildExecutable, HOST_TARGET } from './executable.ts'
import { readNotices } from './notices.ts'
import { ROOT, readOrigin } from './origin.ts'
import { type DebianPackage, toImageSbom } from './sbom.ts'

const FOLDER = join(ROOT, 'dist/image')
/** Where Debian has the license of the libraries that the executable loads. */
const LIBC_LICENSE = '/usr/share/doc/libc6/copyright'

/** Writes it to `dist/image/`. REVISION in the environment is the commit. */
export async function buildImage(): Promise<void> {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(join(FOLDER, 'data'), { recursive: true })
  const executable = join(FOLDER, 'app/rollcall')
  await buildExecutable(HOST_TARGET, executable)
  // The paths of the libraries that it loads, with the loader.
  const libraries = (await $`ldd ${executable}`.text()).match(/\/\S+(?= \(0x)/g) ?? []
  for (const file of [...libraries, LIBC_LICENSE].filter((path) => existsSync(path))) {
    cpSync(realpathSync(file), join(FOLDER, 'root', file))
  }
  const files = {
    // The user of the service, to whom the folder of the list belongs (see the Containerfile).
    'etc/passwd': 'rollcall:x:65532:65532::/data:/\n',
    'etc/group': 'rollcall:x:65532:\n',
    'etc/nsswitch.conf': 'hosts: files dns\n',
    'usr/share/doc/rollcall/LICENSE': Bun.file(join(ROOT, 'LICENSE')),
    'usr/share/doc/rollcall/THIRD-PARTY-NOTICES': readNotices(),
    'usr/share/doc/rollcall/rollcall.cdx.json': toImageSbom(await listDebianPackages(libraries), readOrigin().date),
  }
  for (const [path, content] of Object.entries(files)) await Bun.write(join(FOLDER, 'root', path), content)
  console.log('dist/image/ is ready')
}

/** The packages of Debian that have these files. Another base image has none. */
async function listDebianPackages(files: readonly string[]): Promise<DebianPackage[]> {
  if (!Bun.which('dpkg-query')) return []
  const paths = files.flatMap((file) => [file, realpathSync(file)])
  // A line is PACKAGE:ARCHITECTURE: PATH. It fails for a path that no package has, such as one below a linked folder.
  const owners = await $`dpkg-query --search ${paths}`.nothrow().quiet().text()
  const names = [...new Set(owners.match(/^[^\s:]+/gm))].sort()
  if (names.length === 0) return []
  const lines = (await $`dpkg-query --show ${names}`.text()).trim().split('\n')
  return lines.map((line) => {
    const [name = '', version = ''] = line.split(/:\S+\t|\t/)
    return { name, version }
  })
}
