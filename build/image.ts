/**
 * `npm run build:image`: writes the root file system of the image to `dist/image/`, for the Containerfile.
 *
 * Linux only: the libraries that the executable needs are those of this machine.
 */

import { cpSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readCommit } from './commit.ts'
import { buildExecutable, toHostTarget } from './executable.ts'

const FOLDER = resolve(import.meta.dir, '../dist/image')

/** The user of the service. The folder of the list belongs to it; see the Containerfile. */
const FILES = {
  'etc/passwd': 'rollcall:x:65532:65532::/data:/\n',
  'etc/group': 'rollcall:x:65532:\n',
  'etc/nsswitch.conf': 'hosts: files dns\n',
} as const

rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(join(FOLDER, 'data'), { recursive: true })
const executable = join(FOLDER, 'app/rollcall')
await buildExecutable({ target: toHostTarget(), outfile: executable, commit: readCommit() })
for (const library of listLibraries(executable)) add(library, (file) => cpSync(realpathSync(library), file))
for (const [path, text] of Object.entries(FILES)) add(path, (file) => writeFileSync(file, text))
console.log('dist/image/ is ready; next: buildah build --format docker --tag rollcall .')

function add(path: string, write: (file: string) => void): void {
  const file = join(FOLDER, 'root', path)
  mkdirSync(dirname(file), { recursive: true })
  write(file)
}

/** Lists the paths of the libraries that an executable loads, with the loader. */
function listLibraries(file: string): string[] {
  const { success, stdout, stderr } = Bun.spawnSync(['ldd', file])
  if (!success) throw new Error(`ldd ${file}: ${stderr}`)
  return [...stdout.toString().matchAll(/(\/\S+) \(0x/g)].flatMap(([, path = '']) => path)
}
