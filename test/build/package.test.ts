/** The package: it contains what runs, and it runs without Bun on the PATH and without what only the tests need. */

import { expect, test } from 'bun:test'
import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readOrigin } from '../../build/origin.ts'
import { dependencies, version } from '../../package.json' with { type: 'json' }
import { ROOT } from '../support/paths.ts'
import { runCommand, startService, writeForeignFiles } from '../support/service.ts'
import { createFolder } from '../support/workspace.ts'

/** What the package has: the program, the launcher, and what npm always adds. */
const PROGRAM = ['cli', 'worker', 'backup-worker', 'card-worker'].flatMap((name) =>
  ['ts', 'ts.jsc'].map((end) => `dist/program/${name}.${end}`),
)
const RECIPES = ['buttondown', 'ghost', 'listmonk', 'mailchimp', 'members', 'recipe', 'webhook'].map(
  (name) => `deploy/recipes/${name}.mjs`,
)
const FILES = [
  ...PROGRAM,
  ...['Fraunces_600SemiBold.ttf', 'index_bg.wasm', 'THIRD-PARTY-NOTICES'].map((name) => `dist/program/${name}`),
  ...RECIPES,
  'deploy/recipes/sync',
  'deploy/env',
  'deploy/site.yaml',
  'LICENSE',
  'README.md',
  'package.json',
  'bin/rollcall',
]

const PATH = '/usr/bin:/bin'

/** Packs into a folder, and unpacks it at its place below `node_modules`. Returns the files, as npm lists them. */
async function installPackage(folder: string): Promise<string[]> {
  const pack = Bun.spawn(['npm', 'pack', '--json', '--pack-destination', folder], { cwd: ROOT, stdout: 'pipe' })
  const [{ filename, files }] = JSON.parse(await pack.stdout.text())
  const modules = join(folder, 'node_modules')
  for (const name of ['.bin', 'rollcall']) await mkdir(join(modules, name), { recursive: true })
  const tar = Bun.spawn(['tar', 'xzf', join(folder, filename), '--strip-components=1', '-C', join(modules, 'rollcall')])
  expect(await tar.exited).toBe(0)
  for (const name of Object.keys(dependencies)) {
    await mkdir(dirname(join(modules, name)), { recursive: true })
    await symlink(join(ROOT, 'node_modules', name), join(modules, name))
  }
  await symlink('../rollcall/bin/rollcall', join(modules, '.bin/rollcall'))
  return files.map(({ path }: { path: string }) => path)
}

test('the package contains what runs and nothing else, and its launcher needs no bun on the PATH', async () => {
  const folder = await createFolder()
  expect((await installPackage(folder)).toSorted()).toEqual(FILES.toSorted())
  // It runs elsewhere: the program finds its threads next to itself, and not where it was built.
  const built = join(folder, 'node_modules/rollcall/dist/program')
  expect(await Bun.$`grep -rlF ${`${ROOT}/`} ${built}`.nothrow().text()).toBe('')
  const program = join(folder, 'node_modules/.bin/rollcall')
  const { commit } = readOrigin()
  const line = commit ? `${version} (${commit})\n` : `${version}\n`
  expect(await runCommand(['--version'], { program: [program], env: { PATH } })).toEqual({
    code: 0,
    stdout: line,
    stderr: '',
  })
  // Yarn 4 starts a program with Node.
  expect(await runCommand(['--version'], { program: ['node', program] })).toMatchObject({ stdout: line })
  // The runtime takes the bytecode that was packed, and does not parse the program again: half of a start.
  expect(await Bun.$`${program} --version 2>&1`.env({ PATH, BUN_JSC_verboseDiskCache: '1' }).text()).toContain(
    'Cache hit',
  )
  // A command may start in the folder of another program.
  await writeForeignFiles(folder)
  expect(await runCommand(['count'], { folder, program: [program], env: { PATH } })).toEqual({
    code: 1,
    stdout: '',
    stderr: `rollcall: there is no list at ${folder}/data/rollcall.db: use the folder and the settings of the service, or --list; if it was deleted, restore a backup\n`,
  })
  const service = await startService({ folder, command: [program, 'serve'], env: { PATH } })
  const page = await fetch(service.origin)
  expect(page.status).toBe(200)
  // A thread draws it, with WebAssembly and a font.
  const [card = ''] = /\/assets\/card[^"]+/.exec(await page.text()) ?? []
  expect(await (await fetch(service.origin + card)).text()).toContain('PNG')
  expect((await service.subscribe('ada@example.org')).status).toBe(200)
  expect(await service.stop()).toBe(0)
  expect(await runCommand(['backup', 'copy.db'], { folder, program: [program], env: { PATH } })).toMatchObject({
    code: 0,
  })
  const onNode = await startService({ folder, command: ['node', program, 'serve'] })
  expect(await onNode.stop()).toBe(0)
  expect(onNode.log()).toContain('"stopped"')
})

test('npm start reads no settings of another program either', async () => {
  const folder = await createFolder()
  await writeForeignFiles(folder)
  for (const name of ['package.json', 'node_modules', 'src']) await symlink(join(ROOT, name), join(folder, name))
  const service = await startService({ folder, command: ['npm', 'start'] })
  expect((await service.subscribe('ada@example.org')).status).toBe(200)
  await service.stop()
})

test('without install scripts the launcher takes the runtime of the platform; without that, it says what to run', async () => {
  const folder = await createFolder()
  const modules = join(folder, 'node_modules')
  await mkdir(join(modules, 'rollcall/bin'), { recursive: true })
  await mkdir(join(modules, 'bun/bin'), { recursive: true })
  await writeFile(join(modules, 'rollcall/bin/rollcall'), await readFile(join(ROOT, 'bin/rollcall')), { mode: 0o755 })
  // The text that the package has before its script has run.
  await writeFile(join(modules, 'bun/bin/bun.exe'), 'echo "Error: the postinstall script was not run." >&2\n')
  await chmod(join(modules, 'bun/bin/bun.exe'), 0o755)
  const run = () => runCommand([], { program: [join(modules, 'rollcall/bin/rollcall')], env: { PATH } })

  const missing = await run()
  expect(missing).toMatchObject({ code: 1, stdout: '' })
  // The command that it prints runs the install script of the package, where that finds a place for what it downloads.
  await writeFile(join(modules, 'bun/install.js'), "process.stdout.write(require('fs').readdirSync('.').join())")
  const [, command = ''] = /^rollcall: the runtime is missing.* run: (\(.*\))\n$/.exec(missing.stderr) ?? []
  expect(await Bun.$`sh -c ${command}`.text()).toBe('bin,install.js,node_modules')

  const platform = join(modules, '@oven/bun-linux-x64/bin')
  await mkdir(platform, { recursive: true })
  await writeFile(join(platform, 'bun'), '#!/bin/sh\necho "$@"\n', { mode: 0o755 })
  expect(await run()).toEqual({
    code: 0,
    stdout: `--no-env-file --config=/dev/null ${modules}/rollcall/dist/program/cli.ts\n`,
    stderr: '',
  })

  await rm(join(modules, 'bun'), { recursive: true })
  expect((await run()).stderr).toMatch(/^rollcall: the package "bun" is missing.*\n$/)
})
