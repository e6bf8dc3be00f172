/** The files of an installation, which the archive and the Debian package have in common, and the archive. */

import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { $ } from 'bun'
import { createManual } from './manual.ts'
import { readNotices } from './notices.ts'
import { ROOT, toSeconds } from './origin.ts'

const DOC = 'share/doc/rollcall'
const UNITS = readdirSync(join(ROOT, 'deploy')).filter((name) => /\.(?:service|timer)$/.test(name))
const GUIDES = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))

const RECIPES = readdirSync(join(ROOT, 'deploy/recipes'))

/** The files of `deploy/` for owners, next to the guides. */
const EXAMPLES = [
  ...['env', 'site.yaml', 'restore-drill.sh', 'alerts.yml', 'dashboard.json'],
  ...['nginx.conf', 'haproxy.cfg', 'Caddyfile'],
]

/**
 * Writes the files of an installation into a folder, which stands for the folder `prefix` of a machine.
 *
 * @param executable the path of the program for that machine
 * @param prefix such as `/usr`, for the paths in the units
 * @returns the paths of the files in the folder
 */
export function writeInstallation(folder: string, executable: string, prefix: string): string[] {
  const paths: string[] = []
  function add(path: string, content: string | Buffer, mode = 0o644): void {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
    chmodSync(file, mode)
    paths.push(path)
  }

  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
  add('bin/rollcall', readFileSync(executable), 0o755)
  add('lib/sysusers.d/rollcall.conf', read('deploy/sysusers.conf'))
  for (const name of UNITS) {
    add(`lib/systemd/system/${name}`, read(`deploy/${name}`).replaceAll('/usr/local/', `${prefix}/`))
  }
  for (const name of EXAMPLES) add(`${DOC}/${name}`, read(`deploy/${name}`))
  for (const name of RECIPES) {
    add(`share/rollcall/recipes/${name}`, read(`deploy/recipes/${name}`), name.endsWith('.mjs') ? 0o644 : 0o755)
  }
  // The guides and the files that they link to are in one folder.
  for (const name of GUIDES) add(`${DOC}/${name}`, read(`docs/${name}`).replaceAll('](../deploy/', ']('))
  for (const name of ['LICENSE', 'CHANGELOG.md']) add(`${DOC}/${name}`, read(name))
  add(`${DOC}/THIRD-PARTY-NOTICES`, readNotices())
  add('share/man/man1/rollcall.1.gz', toGzip(createManual()))
  return paths.sort()
}

/** Compresses a text as `gzip -9n` does. */
export const toGzip = (text: string): Buffer => Buffer.from(Bun.gzipSync(text, { level: 9 }))

/**
 * Packs an executable for Linux with these files into a .tar.gz next to it. The paths are those below /usr/local.
 *
 * @param date of its files
 */
export async function writeArchive(executable: string, date: Date): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-archive-'))
  const paths = writeInstallation(folder, executable, '/usr/local')
  const file = `${executable}.tar.gz`
  // Files without their folders: as root, tar would change the mode of folders that exist.
  const archive = `${executable}.tar`
  const time = `@${toSeconds(date)}`
  const owner = ['--owner=0', '--group=0', '--numeric-owner']
  await $`tar --create --format=ustar ${owner} --mtime=${time} --file ${archive} --directory ${folder} ${paths}`
  await $`gzip --no-name --force ${archive}`
  rmSync(folder, { recursive: true })
  console.log(`${basename(file)}: ${Math.round(Bun.file(file).size / 1e6)} MB`)
}
