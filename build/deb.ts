/** Debian packages, such as `rollcall_1.0.0_amd64.deb`. They need dpkg-deb. */

import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { $ } from 'bun'
import manifest from '../package.json' with { type: 'json' }
import { buildExecutable, HOST_TARGET } from './executable.ts'
import { writeInstallation } from './installation.ts'
import { type Origin, ROOT, readOrigin } from './origin.ts'

/** The targets of executables, by the names of Debian. */
export const TARGETS: Readonly<Record<string, string>> = { amd64: 'linux-x64', arm64: 'linux-arm64' }

export interface DebOptions {
  readonly architecture: string
  /** The executable for that architecture. */
  readonly executable: string
  /** The name of the package file. */
  readonly file: string
  /** Who maintains the package, and where; by default, what this build knows. */
  readonly origin?: Origin
  /** Another version than that of package.json, for a test. */
  readonly version?: string
  /** gzip takes seconds. xz takes minutes, and saves a quarter. */
  readonly compression?: 'gzip' | 'none'
}

/** Writes a Debian package. @throws ShellError when dpkg-deb fails */
export async function writeDeb({
  architecture,
  executable,
  file,
  version,
  origin = readOrigin(),
  compression = 'gzip',
}: DebOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-deb-'))
  try {
    chmodSync(folder, 0o755)
    writeInstallation(join(folder, 'usr'), executable, '/usr')
    // Debian looks for the license under this name.
    cpSync(join(ROOT, 'LICENSE'), join(folder, 'usr/share/doc/rollcall/copyright'))
    for (const name of ['env', 'site.yaml']) {
      await $`install -D --mode=640 ${join(ROOT, 'deploy', name)} ${join(folder, 'etc/rollcall', name)}`
    }
    const size = (await $`du --summarize --block-size=1024 ${folder}`.text()).split('\t')[0]
    const sums = await $`find usr -type f -exec md5sum {} +`.cwd(folder).text()
    cpSync(join(import.meta.dir, 'deb'), join(folder, 'DEBIAN'), { recursive: true })
    const control = `Package: rollcall
Version: ${version ?? manifest.version}
Architecture: ${architecture}
Maintainer: ${origin.maintainer ?? 'Rollcall <rollcall@localhost>'}
Installed-Size: ${size}
Depends: libc6 (>= 2.17), systemd, init-system-helpers
Section: web
Priority: optional
${origin.url ? `Homepage: ${origin.url}\n` : ''}Description: ${manifest.description}
`
    writeFileSync(join(folder, 'DEBIAN/control'), control)
    writeFileSync(join(folder, 'DEBIAN/conffiles'), '/etc/rollcall/env\n/etc/rollcall/site.yaml\n')
    writeFileSync(join(folder, 'DEBIAN/md5sums'), sums)
    await $`dpkg-deb --root-owner-group -Z${compression} --build ${folder} ${file}`.quiet()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Builds executables, and writes a package of each to `dist/`. Ends the process if an architecture is unknown. */
export async function buildDebs(named: readonly string[]): Promise<void> {
  const host = Object.keys(TARGETS).filter((name) => TARGETS[name] === HOST_TARGET)
  const wanted = named.includes('all') ? Object.keys(TARGETS) : named.length > 0 ? named : host
  const unknown = wanted.filter((name) => !(name in TARGETS))
  if (unknown.length > 0 || wanted.length === 0 || !Bun.which('dpkg-deb')) {
    console.error(`npm run build deb writes packages for ${Object.keys(TARGETS).join(', ')} or all, and needs dpkg-deb`)
    process.exit(2)
  }
  mkdirSync(join(ROOT, 'dist'), { recursive: true })
  for (const architecture of wanted) {
    const executable = join(ROOT, `dist/rollcall-${TARGETS[architecture]}`)
    await buildExecutable(TARGETS[architecture] ?? '', executable)
    const file = join(ROOT, `dist/rollcall_${manifest.version}_${architecture}.deb`)
    await writeDeb({ architecture, executable, file })
    console.log(`${basename(file)}: ${Math.round(Bun.file(file).size / 1e6)} MB`)
  }
}
