/**
 * `npm run build:archive [FILE…]`: packs executables of `dist/` for Linux, each into a .tar.gz next to it, with the systemd
 * unit and the licenses. Its paths are those below /usr/local.
 */

import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { $ } from 'bun'
import { ROOT, readNotices } from './executable.ts'

/** Files of the repository, by their folder in the archive. */
const COPIES = {
  'lib/systemd/system': ['deploy/rollcall.service'],
  'share/doc/rollcall': [
    'env',
    'restore-drill.sh',
    'alerts.yml',
    'dashboard.json',
    'nginx.conf',
    'haproxy.cfg',
    'Caddyfile',
  ]
    .map((name) => `deploy/${name}`)
    .concat('LICENSE', 'CHANGELOG.md'),
}

const given = process.argv.slice(2).map((file) => resolve(file))
const built = new Bun.Glob('dist/rollcall-linux-*[!z]').scanSync({ cwd: ROOT, absolute: true })
const files = given.length > 0 ? given : [...built]
if (files.length === 0) {
  console.error('there is no executable for Linux in dist/: run `npm run build` first')
  process.exit(1)
}
for (const file of files) {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-archive-'))
  const paths = [
    put('bin/rollcall', (target) => copyFileSync(file, target)),
    put('lib/sysusers.d/rollcall.conf', (target) => copyFileSync(join(ROOT, 'deploy/sysusers.conf'), target)),
    put('share/doc/rollcall/THIRD-PARTY-NOTICES', (target) => writeFileSync(target, readNotices())),
  ]
  for (const [path, sources] of Object.entries(COPIES)) {
    for (const source of sources) {
      const name = join(path, source.split('/').at(-1) ?? '')
      paths.push(put(name, (target) => copyFileSync(join(ROOT, source), target)))
    }
  }
  chmodSync(join(folder, 'bin/rollcall'), 0o755)
  // Files without their folders: as root, tar would change the mode of folders that exist.
  await $`tar --create --gzip --owner=0 --group=0 --numeric-owner --mode=go-w --file ${file}.tar.gz --directory ${folder} ${paths.sort()}`
  rmSync(folder, { recursive: true })
  console.log(`${file}.tar.gz: ${Math.round(Bun.file(`${file}.tar.gz`).size / 1e6)} MB`)

  /** Adds a file. Returns its path in the archive. */
  function put(path: string, write: (target: string) => void): string {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    write(join(folder, path))
    return path
  }
}
