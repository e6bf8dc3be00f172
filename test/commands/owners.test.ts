/** Whose the files are, and in which folder a command runs: a folder of somebody else, and root for the user of the service. */

import { expect, test } from 'bun:test'
import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { createCliFixture } from '../support/cli-fixture.ts'
import { BOUND_BY_MODES } from '../support/disk.ts'
import { ROOT } from '../support/paths.ts'
import { PROGRAM } from '../support/program.ts'
import { NO_ENV_FILE, runCommand, startService } from '../support/service.ts'
import { createSyncCounter } from '../support/sync-counter.ts'
import { until } from '../support/wait.ts'

const IS_ROOT = process.getuid?.() === 0
const NOBODY = 65_534

test('every verb works in a folder that its user may not enter', async () => {
  const { folder, list, print } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  const closed = join(folder, 'closed')
  mkdirSync(closed)
  const env = { DATABASE_URL: list, BASE_URL: 'http://localhost:3000' }
  const run = (text: string) => {
    const script = `cd "$0" && chmod 000 . && exec ${[...BOUND_BY_MODES, PROGRAM].join(' ')} ${text}`
    return runCommand([closed], { env, folder, program: ['sh', '-c', script], stdin: 'bob@site.io\n' })
  }
  for (const text of [
    ...['count', 'has ada@site.io', 'status', 'import -', 'has -', 'remove ada@site.io', 'remove -'],
    ...['export', 'export --out -', 'export --format txt', 'export --for ghost'],
    `export --cursor-file ${folder}/c --exec "cat > /dev/null"`,
    ...[`backup ${folder}/b.db`, `restore ${folder}/b.db --dry-run`, `copy --from ${list} --to sqlite:${folder}/n.db`],
    ...[`init ${folder}/settings --base-url https://list.rollcall.dev --name News`, '--version', 'help'],
  ]) {
    const { code, stderr } = await run(text)
    expect([text, code, code === 0 ? '' : stderr]).toEqual([text, 0, ''])
    chmodSync(closed, 0o700)
  }
  expect((await run('doctor')).stdout).toContain(
    `ok: none in ${folder}; not read, because this user may not: ${closed}\n`,
  )
  chmodSync(closed, 0o700)
})

test('what root writes belongs to the owner of its folder, and what it replaces to the owner before', async () => {
  // Only root can give files away.
  if (!IS_ROOT) return
  const { folder, print } = await createCliFixture()
  for (const name of ['service', 'home']) mkdirSync(join(folder, name))
  chownSync(join(folder, 'service'), NOBODY, NOBODY)
  chownSync(join(folder, 'home'), 1234, 1234)
  const url = `sqlite:${folder}/service/data/list.db`
  const list = ['--list', url]
  await print(['import', '-', '--yes', '--rejected', 'home/rejected.csv', ...list], 'ada@site.io\nnobody\n')
  await print(['backup', 'service/copy.db', ...list])
  await print(['backup', 'home/copy.db', ...list])
  await print(['export', '--out', 'home/list.csv', '--cursor-file', 'service/c', ...list])
  await print(['restore', 'home/copy.db', ...list])
  await print(['import', '-', ...list], 'bob@site.io\n')
  await print(['copy', '--from', url, '--to', `sqlite:${folder}/service/new.db`])
  await print(['init', 'home/news/letter', '--base-url', 'https://list.gazette.example', '--name', 'Gazette'])
  const owners = (name: string) => {
    const files = readdirSync(join(folder, name), { recursive: true }) as string[]
    return [...new Set(files.map((file) => statSync(join(folder, name, file)).uid))]
  }
  expect([owners('service'), owners('home')]).toEqual([[NOBODY], [1234]])
  // In the folder of root, the file of somebody stays theirs.
  await print(['export', '--out', 'mine.csv', ...list])
  chownSync(join(folder, 'mine.csv'), 1234, 1234)
  await print(['export', '--out', 'mine.csv', ...list])
  expect(statSync(join(folder, 'mine.csv')).uid).toBe(1234)

  // The service, which is another user, has a list that it can write.
  chmodSync(folder, 0o711)
  const command = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--', PROGRAM, 'serve']
  const service = await startService({ env: { DATABASE_URL: url }, folder: join(folder, 'service'), command })
  expect((await service.subscribe('eve@site.io')).status).toBe(200)
  // Root creates no log that the service cannot write.
  await print(['import', '-', ...list], 'dan@site.io\n')
  expect((await service.subscribe('fay@site.io')).status).toBe(200)
  expect(await service.stop()).toBe(0)
  expect(owners('service')).toEqual([NOBODY])
})

test('a file that root replaces has its owner before it has its name', async () => {
  // Only root can give files away.
  if (!IS_ROOT) return
  const { folder, print, start, write } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  mkdirSync(join(folder, 'home'))
  await write('home/list.csv', 'earlier')
  chownSync(join(folder, 'home/list.csv'), 1234, 1234)
  const home = await realpath(join(folder, 'home'))
  const counter = await createSyncCounter()
  const release = counter.holdSyncsOf(home)
  const child = start(['export', '--out', 'home/list.csv'], counter.env)
  // A kill here leaves what is there now.
  await until(() => counter.count(home) > 0, 'the new name is synced')
  expect(readFileSync(join(home, 'list.csv'), 'utf8')).toContain('ada@site.io')
  expect(statSync(join(home, 'list.csv')).uid).toBe(1234)
  release()
  expect(await child.exited).toBe(0)
})

test('a file that root cannot give away is written, and belongs to root, as on a disk without owners', async () => {
  // Others do not try.
  if (!IS_ROOT) return
  const { folder, list, print, write } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  await write('list.csv', 'earlier')
  chownSync(join(folder, 'list.csv'), 1234, 1234)
  const program = ['setpriv', '--bounding-set=-chown', '--', PROGRAM]
  const options = { program, folder, env: { DATABASE_URL: list } }
  for (const args of [
    ['export', '--out', 'list.csv'],
    ['backup', 'copy.db'],
    ['restore', 'copy.db'],
  ]) {
    const { code, stderr } = await runCommand(args, options)
    expect([args, code, code === 0 ? '' : stderr]).toEqual([args, 0, ''])
  }
  expect(readFileSync(join(folder, 'list.csv'), 'utf8')).toContain('ada@site.io')
  expect(statSync(join(folder, 'list.csv')).uid).toBe(0)
})

test('bin/rollcall names each part of the program that its user may not read, with one command for all', async () => {
  const { folder } = await createCliFixture()
  for (const name of ['bin', 'src', 'deploy', 'package.json', 'tsconfig.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  mkdirSync(join(folder, 'node_modules/bun/bin'), { recursive: true })
  chmodSync(folder, 0o755)
  const start = () =>
    runCommand(['--version'], { env: NO_ENV_FILE, program: [...BOUND_BY_MODES, join(folder, 'bin/rollcall')] })
  for (const closed of [['node_modules'], ['node_modules/bun'], ['src', 'package.json', 'node_modules'], ['deploy']]) {
    for (const name of closed) chmodSync(join(folder, name), 0o000)
    const { code, stderr } = await start()
    const paths = closed.map((name) => `'${folder}/${name}'`).join(' ')
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^rollcall: permission denied: this user \(\w+\) may not read parts of the program: run /),
    ])
    expect(stderr).toEndWith(`: run as root: chmod -R a+rX ${paths}\n`)
    for (const name of closed) chmodSync(join(folder, name), 0o755)
  }
  expect((await start()).stderr).toContain('the runtime is missing')
})
