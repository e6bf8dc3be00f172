/** Builds the image from the sources with buildah, without a daemon and without a network but for packages. */

import { cpSync, existsSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ROOT } from '../support/paths.ts'

/** What the label of the image names as the page of the repository. */
export const SOURCE = 'https://git.site.io/owner/rollcall'

/**
 * Builds the image `rollcall` with the script of the release. Its first stage is on a root with the Node of this machine, in
 * the place of the first image of the Containerfile. All that runs buildah and podman later keeps its images in the folder.
 *
 * @param folder an empty one, for the images @throws Error with what failed
 */
export async function buildImage(folder: string): Promise<void> {
  const storage = join(folder, 'storage.conf')
  await Bun.write(storage, `[storage]\ndriver = "vfs"\ngraphroot = "${folder}/storage"\nrunroot = "${folder}/run"\n`)
  process.env.CONTAINERS_STORAGE_CONF = storage
  const base = buildah('from', '--name', 'node', 'scratch').trim()
  copyNode(buildah('mount', base).trim())
  const certificates = process.env.NODE_EXTRA_CA_CERTS
  const variables = ['HOME=/root', ...(certificates ? [`NODE_EXTRA_CA_CERTS=${certificates}`] : [])]
  buildah('config', ...variables.flatMap((variable) => ['--env', variable]), base)
  buildah('commit', '--rm', base, 'localhost/node')
  process.env.SOURCE = SOURCE
  run([join(ROOT, '.ci/image'), '--isolation', 'chroot', '--pull-never', '--from', 'localhost/node'])
}

/** Copies Node and npm of this machine, what they run, and the settings of npm to a root. */
function copyNode(root: string): void {
  const programs = [realpathSync(Bun.which('node') ?? ''), '/bin/sh', '/bin/bash', '/usr/bin/env', '/usr/bin/ldd']
  const settings = ['userconfig', 'globalconfig'].map((name) => run(['npm', 'config', 'get', name]).trim())
  const files = [...settings, process.env.NODE_EXTRA_CA_CERTS ?? '', '/etc/ssl/certs/ca-certificates.crt']
  for (const program of programs) copyProgram(program, root)
  for (const file of files.filter((name) => existsSync(name))) cpSync(realpathSync(file), join(root, file))
  for (const [folder, mode] of [
    ['tmp', 0o1777],
    ['usr/bin', 0o755],
    ['usr/lib/node_modules', 0o755],
  ] as const)
    mkdirSync(join(root, folder), { recursive: true, mode })
  cpSync(resolve(realpathSync(Bun.which('npm') ?? ''), '../..'), join(root, 'usr/lib/node_modules/npm'), {
    recursive: true,
  })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/bin/npm'))
  if (!existsSync(join(root, 'usr/bin/node'))) symlinkSync(programs[0] ?? '', join(root, 'usr/bin/node'))
}

/** Copies a program of this machine, and the libraries that it loads, to the same paths of a root. */
export function copyProgram(program: string, root: string): void {
  const libraries = Bun.spawnSync(['ldd', program])
    .stdout.toString()
    .matchAll(/(\/\S+) \(0x/g)
  for (const file of [program, ...[...libraries].map(([, path = '']) => path)]) {
    cpSync(realpathSync(file), join(root, file))
  }
}

/** Runs buildah, and returns its output. @throws Error with what it printed when it fails */
export function buildah(...args: readonly string[]): string {
  return run(['buildah', ...args])
}

/** Runs a program in the root of the repository, and returns its output. @throws Error with what it printed when it fails */
export function run(command: readonly string[]): string {
  const { success, stdout, stderr } = Bun.spawnSync([...command], { cwd: ROOT, env: process.env })
  if (!success) throw new Error(`${command.join(' ')}: ${stdout}${stderr}`)
  return stdout.toString()
}
