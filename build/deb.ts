/** Debian packages, such as `rollcall_1.0.0_amd64.deb`. They need dpkg-deb. */

import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { $ } from 'bun'
import manifest from '../package.json' with { type: 'json' }
import { writeInstallation } from './installation.ts'
import { type Origin, ROOT } from './origin.ts'

/** The architectures of Debian, by the targets of executables. */
const ARCHITECTURES: Readonly<Record<string, string>> = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' }

/**
 * Writes a Debian package of an executable to a folder. Debian has no package for most targets: then nothing is written.
 *
 * @param origin who maintains the package, and where
 * @param version another one than that of package.json, for a test
 * @throws ShellError when dpkg-deb fails
 */
export async function writeDeb(
  folder: string,
  target: string,
  executable: string,
  origin: Origin,
  version = manifest.version,
): Promise<void> {
  const architecture = ARCHITECTURES[target]
  if (!architecture) return
  const file = join(folder, `rollcall_${version}_${architecture}.deb`)
  const root = mkdtempSync(join(tmpdir(), 'rollcall-deb-'))
  try {
    chmodSync(root, 0o755)
    writeInstallation(join(root, 'usr'), executable, '/usr')
    // Debian looks for the license under this name.
    cpSync(join(ROOT, 'LICENSE'), join(root, 'usr/share/doc/rollcall/copyright'))
    for (const name of ['env', 'site.yaml']) {
      await $`install -D --mode=640 ${join(ROOT, 'deploy', name)} ${join(root, 'etc/rollcall', name)}`
    }
    const size = (await $`du --summarize --block-size=1024 ${root}`.text()).split('\t')[0]
    const sums = await $`find usr -type f -exec md5sum {} +`.cwd(root).text()
    cpSync(join(import.meta.dir, 'deb'), join(root, 'DEBIAN'), { recursive: true })
    const control = `Package: rollcall
Version: ${version}
Architecture: ${architecture}
Maintainer: ${origin.maintainer ?? 'Rollcall <rollcall@localhost>'}
Installed-Size: ${size}
Depends: libc6 (>= 2.17), systemd, init-system-helpers
Section: web
Priority: optional
${origin.url ? `Homepage: ${origin.url}\n` : ''}Description: ${manifest.description}
`
    writeFileSync(join(root, 'DEBIAN/control'), control)
    writeFileSync(join(root, 'DEBIAN/conffiles'), '/etc/rollcall/env\n/etc/rollcall/site.yaml\n')
    writeFileSync(join(root, 'DEBIAN/md5sums'), sums)
    // xz takes minutes, and saves a quarter.
    await $`dpkg-deb --root-owner-group -Zgzip --build ${root} ${file}`.quiet()
  } finally {
    rmSync(root, { recursive: true })
  }
  console.log(`${basename(file)}: ${Math.round(Bun.file(file).size / 1e6)} MB`)
}
