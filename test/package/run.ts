/**
 * `npm run test:package`: installs the package with npm, pnpm, yarn and bun on Node 20, 22 and 24, with and without
 * install scripts, globally and by a link. Prints a table in Markdown.
 *
 * Not part of `npm test`: it loads Node, the package managers and the dependencies from the npm registry. Exit code 1
 * when an installation does not work.
 */

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { version } from '../../package.json' with { type: 'json' }
import { ROOT } from '../support/paths.ts'
import { createFolder, runCommand, startService } from '../support/service.ts'

const NODES = ['20', '22', '24']

/** Ways to install the tarball in a folder that has a package.json. Each leaves the program at `bin`. */
interface Way {
  readonly name: string
  readonly bin?: string
  readonly toCommand: (tarball: string) => readonly string[]
}

const BIN = 'node_modules/.bin/rollcall'
const WAYS: readonly Way[] = [
  { name: 'npm', toCommand: (tarball) => ['npm', 'install', tarball] },
  { name: 'npm --ignore-scripts', toCommand: (tarball) => ['npm', 'install', '--ignore-scripts', tarball] },
  {
    name: 'npm --global',
    bin: 'global/bin/rollcall',
    toCommand: (tarball) => ['npm', 'install', '--global', '--prefix', 'global', tarball],
  },
  {
    name: 'npm link',
    bin: 'global/bin/rollcall',
    toCommand: () => ['npm', 'install', '--global', '--prefix', 'global', ROOT],
  },
  { name: 'pnpm', toCommand: (tarball) => ['pnpm', 'add', tarball] },
  { name: 'yarn', toCommand: (tarball) => ['yarn', 'add', `file:${tarball}`] },
  { name: 'bun', toCommand: (tarball) => [process.execPath, 'add', tarball] },
]

let failures = 0
const folder = await createFolder()
const tools = join(folder, 'tools')
await install(tools, ['npm', 'install', ...NODES.map((node) => `node${node}@npm:node@${node}`), 'pnpm@10', 'yarn@1'])
await run(ROOT, ['npm', 'pack', '--pack-destination', folder])
const tarball = join(folder, `rollcall-${version}.tgz`)

console.log(`| | ${NODES.map((node) => `Node ${node}`).join(' | ')} |`)
console.log(`|---|${NODES.map(() => '---|').join('')}`)
for (const way of WAYS) {
  const cells: string[] = []
  for (const node of NODES) cells.push(await check(way, node))
  console.log(`| ${way.name} | ${cells.join(' | ')} |`)
}
await rm(folder, { recursive: true })
process.exit(failures > 0 ? 1 : 0)

/** Installs with a version of Node, and runs the program without Bun on the PATH. */
async function check(way: Way, node: string): Promise<string> {
  const project = join(folder, `${way.name}-${node}`.replaceAll(' ', ''))
  // The program that `node` names comes first. npm is that of this machine.
  const path = `${join(tools, `node_modules/node${node}/bin`)}:${join(tools, 'node_modules/.bin')}:${process.env.PATH}`
  try {
    await install(project, way.toCommand(tarball), path)
    const program = join(project, way.bin ?? BIN)
    const env = { PATH: '/usr/bin:/bin' }
    const { code, stdout, stderr } = await runCommand(['--version'], { program: [program], env })
    if (code !== 0 || stdout !== `${version}\n`) throw new Error(`--version ends with ${code}: ${stderr}`)
    const service = await startService({ folder: project, command: [program, 'serve'], env })
    const { status } = await service.subscribe('ada@example.org')
    const stopped = await service.stop()
    if (status !== 200 || stopped !== 0) throw new Error(`status ${status}, exit code ${stopped}`)
    return 'runs'
  } catch (error) {
    failures++
    console.error(`${way.name}, Node ${node}: ${error instanceof Error ? error.message : error}`)
    return '**fails**'
  } finally {
    await rm(project, { recursive: true, force: true })
  }
}

async function install(project: string, command: readonly string[], path?: string): Promise<void> {
  await mkdir(project, { recursive: true })
  await writeFile(join(project, 'package.json'), '{"private":true}')
  await run(project, command, path)
}

/** Runs a command. @throws Error with what it printed when it fails */
async function run(cwd: string, command: readonly string[], path = process.env.PATH): Promise<void> {
  const env = { ...process.env, PATH: path }
  const child = Bun.spawn([...command], { cwd, env, stdout: 'pipe', stderr: 'pipe' })
  const texts = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  if (child.exitCode !== 0) throw new Error(`${command.join(' ')} ends with ${child.exitCode}:\n${texts.join('\n')}`)
}
