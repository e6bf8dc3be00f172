/**
 * `npm run build:archive [FILE…]`: packs executables of `dist/` for Linux, each into a .tar.gz next to it, with the systemd
 * unit. Its paths are those below /usr/local.
 */

import { chmod, copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dir, '..')

/** Files of the repository, by their path in the archive. */
const COPIES = {
  'lib/systemd/system/rollcall.service': 'deploy/rollcall.service',
  'lib/sysusers.d/rollcall.conf': 'deploy/sysusers.conf',
  'share/doc/rollcall/env': 'deploy/env',
  'share/doc/rollcall/restore-drill.sh': 'deploy/restore-drill.sh',
  'share/doc/rollcall/alerts.yml': 'deploy/alerts.yml',
  'share/doc/rollcall/dashboard.json': 'deploy/dashboard.json',
  'share/doc/rollcall/nginx.conf': 'deploy/nginx.conf',
  'share/doc/rollcall/haproxy.cfg': 'deploy/haproxy.cfg',
  'share/doc/rollcall/Caddyfile': 'deploy/Caddyfile',
  'share/doc/rollcall/LICENSE': 'LICENSE',
  'share/doc/rollcall/CHANGELOG.md': 'CHANGELOG.md',
}

const files = process.argv.slice(2)
if (files.length === 0)
  files.push(...new Bun.Glob('rollcall-linux-*[!z]').scanSync({ cwd: join(ROOT, 'dist'), absolute: true }))
if (files.length === 0) {
  console.error('there is no executable for Linux in dist/: run `npm run build` first')
  process.exit(1)
}
for (const file of files) await pack(resolve(file))

async function pack(executable: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-archive-'))
  const put = async (path: string, write: (target: string) => Promise<void>) => {
    const target = join(folder, path)
    await mkdir(dirname(target), { recursive: true })
    await write(target)
  }
  await put('bin/rollcall', (target) => copyFile(executable, target))
  await chmod(join(folder, 'bin/rollcall'), 0o755)
  for (const [path, source] of Object.entries(COPIES)) await put(path, (target) => copyFile(join(ROOT, source), target))
  // Files without their folders: as root, tar would change the mode of folders that exist.
  const paths = ['bin/rollcall', ...Object.keys(COPIES)].sort()
  const archive = `${executable}.tar.gz`
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=go-w']
  run(['tar', '--create', '--gzip', ...owner, '--file', archive, '--directory', folder, ...paths])
  await rm(folder, { recursive: true })
  console.log(`dist/${basename(archive)}: ${Math.round(Bun.file(archive).size / 1e6)} MB`)
}

/** Runs a command. @throws when it fails */
function run(command: readonly string[]): void {
  const { stderr, success } = Bun.spawnSync([...command])
  if (!success) throw new Error(`${command[0]}: ${stderr}`)
}
