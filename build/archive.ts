/**
 * `npm run build:archive [FILE…]`: packs executables of `dist/` for Linux, each into a .tar.gz next to it, with the systemd
 * unit and the licenses. Its paths are those below /usr/local.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { $ } from 'bun'
import { ROOT, readNotices } from './executable.ts'

const DOC = 'share/doc/rollcall'
const EXAMPLES = [
  'env',
  'site.yaml',
  'restore-drill.sh',
  'alerts.yml',
  'dashboard.json',
  'nginx.conf',
  'haproxy.cfg',
  'Caddyfile',
]

/** Files of the repository, by their path in the archive. */
const COPIES = {
  'lib/systemd/system/rollcall.service': 'deploy/rollcall.service',
  'lib/sysusers.d/rollcall.conf': 'deploy/sysusers.conf',
  ...Object.fromEntries(EXAMPLES.map((name) => [`${DOC}/${name}`, `deploy/${name}`])),
  ...Object.fromEntries(['LICENSE', 'CHANGELOG.md'].map((name) => [`${DOC}/${name}`, name])),
}

const built = new Bun.Glob('dist/rollcall-linux-*[!z]').scanSync({ cwd: ROOT, absolute: true })
const files = process.argv.length > 2 ? process.argv.slice(2).map((file) => resolve(file)) : [...built]
if (files.length === 0) {
  console.error('there is no executable for Linux in dist/: run `npm run build` first')
  process.exit(1)
}
for (const file of files) {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-archive-'))
  await $`install -D --mode=755 ${file} ${folder}/bin/rollcall`
  for (const [path, source] of Object.entries(COPIES))
    await $`install -D --mode=644 ${join(ROOT, source)} ${folder}/${path}`
  writeFileSync(join(folder, DOC, 'THIRD-PARTY-NOTICES'), readNotices())
  // Files without their folders: as root, tar would change the mode of folders that exist.
  const paths = ['bin/rollcall', `${DOC}/THIRD-PARTY-NOTICES`, ...Object.keys(COPIES)].sort()
  await $`tar --create --gzip --owner=0 --group=0 --numeric-owner --mode=go-w --file ${file}.tar.gz --directory ${folder} ${paths}`
  rmSync(folder, { recursive: true })
  console.log(`${basename(file)}.tar.gz: ${Math.round(Bun.file(`${file}.tar.gz`).size / 1e6)} MB`)
}
