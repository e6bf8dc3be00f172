/** The package: it contains what runs, and it runs without Bun on the PATH and without what only the tests need. */

import { expect, test } from 'bun:test'
import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { dependencies, version } from '../../package.json' with { type: 'json' }
import { ROOT } from '../support/paths.ts'
import { runCommand, startService, writeForeignFiles } from '../support/service.ts'
import { createFolder } from '../support/workspace.ts'

/** What the package has: the sources, the launcher, and what npm always adds. */
const SOURCES = [...new Bun.Glob('src/**/*.{ts,tsx,css,ico,png}').scanSync(ROOT)]
const RECIPES = ['buttondown', 'ghost', 'listmonk', 'mailchimp', 'members', 'recipe', 'webhook'].map(
  (name) => `deploy/recipes/${name}.mjs`,
)
const FILES = [
  ...SOURCES,
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
  const program = join(folder, 'node_modules/.bin/rollcall')
  expect(await runCommand(['--version'], { program: [program], env: { PATH } })).toEqual({
    code: 0,
    stdout: `${version}\n`,
    stderr: '',
  })
  // Yarn 4 starts a program with Node.
  expect(await runCommand(['--version'], { program: ['node', program] })).toMatchObject({ stdout: `${version}\n` })
  // A command may start in the folder of another program.
  await writeForeignFiles(folder)
  expect(await runCommand(['count'], { folder, program: [program], env: { PATH } })).toEqual({
    code: 1,
    stdout: '',
    stderr: `rollcall: there is no list at ${folder}/data/rollcall.db: use the folder and the settings of the service, or --list; if it was deleted, restore a backup\n`,
  })
  const service = await startService({ folder, command: [program, 'serve'], env: { PATH } })
  expect((await fetch(service.origin)).status).toBe(200)
  expect((await service.subscribe('ada@example.org')).status).toBe(200)
  expect(await service.stop()).toBe(0)
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
    stdout: `--no-env-file --config=/dev/null ${modules}/rollcall/src/cli.ts\n`,
    stderr: '',
  })

  await rm(join(modules, 'bun'), { recursive: true })
  expect((await run()).stderr).toMatch(/^rollcall: the package "bun" is missing.*\n$/)
})
