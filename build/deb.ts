/** Debian packages, such as `rollcall_VERSION_amd64.deb`. They need dpkg-deb. */

import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { $ } from 'bun'
import manifest from '../package.json' with { type: 'json' }
import { toGzip, writeInstallation } from './installation.ts'
import { type Origin, ROOT, toSeconds } from './origin.ts'

/** The architectures of Debian, by the targets of executables. */
const ARCHITECTURES: Readonly<Record<string, string>> = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' }

/** As Debian wants it: a short line without an article, and a text. */
const DESCRIPTION = `Description: self-hosted subscribe form and API for a newsletter list
 One public endpoint adds an email address to a set, which is one SQLite file
 or a PostgreSQL database. A page serves people, documents describe the API to
 programs, and a command line serves the owner: import, export, backup.
 .
 Rollcall sends no mail: the owner's mail tool reads the list.
`

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
    writeFileSync(join(root, 'usr/share/doc/rollcall/changelog.gz'), toGzip(createChangelog(version, origin)))
    mkdirSync(join(root, 'usr/share/lintian/overrides'), { recursive: true })
    cpSync(join(import.meta.dir, 'lintian-overrides'), join(root, 'usr/share/lintian/overrides/rollcall'))
    const files = [...new Bun.Glob('**').scanSync({ cwd: root, onlyFiles: true })].sort()
    const size = files.reduce((sum, path) => sum + Math.ceil(Bun.file(join(root, path)).size / 1024), 0)
    const sums = await $`md5sum ${files.filter((path) => path.startsWith('usr/'))}`.cwd(root).text()
    cpSync(join(import.meta.dir, 'deb'), join(root, 'DEBIAN'), { recursive: true })
    const control = `Package: rollcall
Version: ${version}
Architecture: ${architecture}
Maintainer: ${origin.maintainer}
Installed-Size: ${size}
Depends: libc6 (>= 2.17), systemd
Section: web
Priority: optional
${origin.url ? `Homepage: ${origin.url}\n` : ''}${DESCRIPTION}`
    writeFileSync(join(root, 'DEBIAN/control'), control)
    writeFileSync(join(root, 'DEBIAN/md5sums'), sums)
    // Whoever builds it may have another umask.
    await $`chmod --recursive u=rwX,go=rX ${root}`
    const time = `@${toSeconds(origin.date)}`
    await $`find ${root} -exec touch --no-dereference --date=${time} {} +`
    // xz takes minutes, and saves a quarter.
    const build = $`dpkg-deb --root-owner-group -Zgzip --build ${root} ${file}`
    await build.env({ ...process.env, SOURCE_DATE_EPOCH: String(toSeconds(origin.date)) }).quiet()
  } finally {
    rmSync(root, { recursive: true })
  }
  console.log(`${basename(file)}: ${Math.round(Bun.file(file).size / 1e6)} MB`)
}

/** The changelog in the format of Debian, which names the one of the project. */
function createChangelog(version: string, { maintainer, date }: Origin): string {
  const time = date.toUTCString().replace('GMT', '+0000')
  return `rollcall (${version}) stable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- ${maintainer}  ${time}\n`
}
