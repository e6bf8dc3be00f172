/**
 * `npm run test:only -- packages`: installs the packed package with each package manager, from the registry, in a folder of
 * its own with caches of its own, by the line of docs/install.md. Then it runs the version, the service, one POST and an
 * export. The managers, and a Node that all of them accept, are in the package.json here. npm writes no lock file of them
 * that is complete: it leaves out the other platforms of pnpm.
 */

import { beforeAll, expect, onTestFinished, test } from 'bun:test'
import { realpathSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { version } from '../../../package.json' with { type: 'json' }
import { readText } from '../../support/markdown.ts'
import { ROOT } from '../../support/paths.ts'
import { runCommand, startService } from '../../support/service.ts'
import { createFolder } from '../../support/workspace.ts'

const MODULES = join(import.meta.dir, 'node_modules')
const toProgram = (path: string) => ['node', join(MODULES, path)]
const YARN_4 = toProgram('yarn-4/bin/yarn.js')

interface Manager {
  readonly name: string
  readonly program: readonly string[]
  /** What comes before the file, as in docs/install.md. */
  readonly add: string
  /** What runs a program of the package. */
  readonly run: readonly string[]
  /** Whether the service gets the SIGTERM that what runs it gets. */
  readonly passesSignals: boolean
}

const MANAGERS: readonly Manager[] = [
  ...[10, 11, 12].map((major) => ({
    name: `npm ${major}`,
    program: toProgram(`npm-${major}/bin/npm-cli.js`),
    add: 'npm install',
    run: toProgram(`npm-${major}/bin/npx-cli.js`),
    passesSignals: false,
  })),
  ...[['10', toProgram('pnpm-10/bin/pnpm.cjs')] as const, ['12', [join(MODULES, 'pnpm-12/pnpm')]] as const].map(
    ([major, program]) => ({
      name: `pnpm ${major}`,
      program,
      add: 'pnpm add --allow-build=bun',
      run: [...program, 'exec'],
      passesSignals: true,
    }),
  ),
  {
    name: 'yarn 1',
    program: toProgram('yarn-1/bin/yarn.js'),
    add: 'yarn add',
    run: [...toProgram('yarn-1/bin/yarn.js'), '--silent'],
    passesSignals: false,
  },
  { name: 'yarn 4', program: YARN_4, add: 'yarn add', run: YARN_4, passesSignals: true },
  {
    name: 'bun',
    program: [process.execPath],
    add: 'bun add',
    run: [process.execPath, 'x'],
    passesSignals: true,
  },
]

let file: string
beforeAll(async () => {
  const folder = await createFolder()
  const { stdout } = await runChecked(['npm', 'pack', '--silent', '--pack-destination', folder], ROOT, process.env)
  file = join(folder, stdout.trim())
})

/** Runs a command, which must exit with 0. */
async function runChecked(command: readonly string[], folder: string, env: Record<string, string | undefined>) {
  const child = Bun.spawn([...command], { cwd: folder, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  expect([command.join(' '), code, code === 0 ? '' : stdout + stderr]).toEqual([command.join(' '), 0, ''])
  return { stdout, stderr }
}

/** Creates a project. Returns its folder and an environment with caches of its own. */
async function createProject(linker: string) {
  const folder = await createFolder()
  // Half a gigabyte, with the caches.
  onTestFinished(() => rm(folder, { recursive: true }))
  const PATH = `${join(MODULES, 'node/bin')}:${process.env.PATH}`
  await writeFile(join(folder, 'package.json'), '{"private": true}\n')
  // Without them, Yarn 4 takes a project in a folder above, and its default is Plug'n'Play.
  await writeFile(join(folder, 'yarn.lock'), '')
  await writeFile(join(folder, '.yarnrc.yml'), `nodeLinker: ${linker}\nenableGlobalCache: false\n`)
  const cache = join(folder, '.caches')
  await mkdir(cache)
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name))),
    PATH,
    npm_config_cache: join(cache, 'npm'),
    npm_config_store_dir: join(cache, 'pnpm'),
    YARN_CACHE_FOLDER: join(cache, 'yarn'),
    YARN_GLOBAL_FOLDER: join(cache, 'yarn-global'),
    BUN_INSTALL_CACHE_DIR: join(cache, 'bun'),
  }
  return { folder, env, PATH }
}

test.each(MANAGERS)('$name installs the package, which serves, accepts and exports', async (manager) => {
  const { folder, env, PATH } = await createProject('node-modules')
  expect(readText('docs/install.md')).toContain(`\`${manager.add} FILE\``)
  await runChecked([...manager.program, ...manager.add.split(' ').slice(1), file], folder, env)

  const settings = { ...env, PATH }
  const run = (...args: readonly string[]) =>
    runCommand(args, { folder, program: [...manager.run, 'rollcall'], env: settings })
  expect(await run('--version')).toMatchObject({ code: 0, stdout: expect.stringContaining(version) })
  const service = await startService({ folder, command: ['node_modules/.bin/rollcall', 'serve'], env: { PATH } })
  expect((await service.subscribe('ada@site.io')).status).toBe(200)
  const exported = await run('export', '--format', 'txt')
  expect(exported).toMatchObject({ code: 0, stdout: expect.stringContaining('ada@site.io\n') })
  expect(await service.stop()).toBe(0)
  await checkSignal(manager, folder, settings)
})

/** Starts the service with the manager, and ends the manager. The service must end too if the manager passes signals on. */
async function checkSignal({ run, passesSignals }: Manager, folder: string, env: Record<string, string>) {
  const service = await startService({ folder, command: [...run, 'rollcall', 'serve'], env })
  service.process.kill('SIGTERM')
  await service.process.exited
  if (!passesSignals) {
    expect((await fetch(service.origin)).status).toBe(200)
    const { stdout } = Bun.spawnSync(['pgrep', '-f', `${realpathSync(folder)}/.*cli\\.ts serve`])
    process.kill(Number(stdout.toString()))
  }
  await service.logged('"stopped"')
}

test("with Plug'n'Play, the launcher says what to do, and that works", async () => {
  const { folder, env } = await createProject('pnp')
  await runChecked([...YARN_4, 'add', file], folder, env)
  const program = [...YARN_4, 'rollcall']
  const { code, stderr } = await runCommand(['--version'], { folder, program, env })
  const [, lines = ''] = /^rollcall: Bun cannot read .*, run: (.*)\n$/.exec(stderr) ?? []
  expect([code, lines.split(' && ')]).toEqual([1, [expect.stringMatching(/^yarn config/), 'yarn install']])
  for (const line of lines.split(' && ')) await runChecked([...YARN_4, ...line.split(' ').slice(1)], folder, env)
  expect(await runCommand(['--version'], { folder, program, env })).toMatchObject({ code: 0 })
})

test.each([
  ['npm 12', '--omit=optional'],
  ['pnpm 12', '--no-optional'],
])('with %s and without optional packages, the launcher says what to run, and that works', async (name, option) => {
  const { folder, env } = await createProject('node-modules')
  const { program = [], add = '' } = MANAGERS.find((manager) => manager.name === name) ?? {}
  // The script that it would run installs the runtime.
  const words = add.replace(' --allow-build=bun', ' --ignore-scripts').split(' ').slice(1)
  await runChecked([...program, ...words, option, file], folder, env)
  const run = () => runCommand(['--version'], { folder, program: ['node_modules/.bin/rollcall'], env })
  const [, command = ''] = /^rollcall: the runtime is missing.*, run: (.*)\n$/.exec((await run()).stderr) ?? []
  const { stderr } = await runChecked(['sh', '-c', command], folder, env)
  expect(stderr).not.toMatch(/^ +at /m)
  expect(await run()).toMatchObject({ code: 0, stdout: expect.stringContaining(version) })
})
