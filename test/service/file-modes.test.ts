/** Only the owner can read what holds addresses: files have mode 0600 and folders 0700, under any umask. */

import { expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { chmod, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createCliFixture } from '../support/cli-fixture.ts'
import { runCommand, startService } from '../support/service.ts'
import { createFolder } from '../support/workspace.ts'

/** Sets the umask of the command that follows. */
const toLauncher = (umask: string) => ['sh', '-c', `umask ${umask}; exec "$@"`, 'sh']

// 777 takes all permissions from the owner too. Only root can then create a folder in a folder.
const UMASKS = ['000', process.getuid?.() === 0 ? '777' : '077']

/** Returns the mode of a file or folder, such as `600`; undefined when it is missing. */
function toMode(path: string): string | undefined {
  const status = statSync(path, { throwIfNoEntry: false })
  return status && (status.mode & 0o777).toString(8)
}

/** Returns the mode of each file and folder below a folder. */
function readModes(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true }).map(String)
  const modes = names.map((name) => [name, toMode(join(folder, name))] as const)
  return Object.fromEntries(modes.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

test.each(UMASKS)('the list of a service and its folders, with umask %s', async (umask) => {
  const folder = await createFolder()
  const env = { DATABASE_URL: 'sqlite:a/b/list.db' }
  const service = await startService({ folder, env, launcher: toLauncher(umask) })
  expect((await service.subscribe('ada@example.org')).status).toBe(200)
  expect(readModes(folder)).toEqual({
    a: '700',
    'a/b': '700',
    'a/b/list.db': '600',
    'a/b/list.db-shm': '600',
    'a/b/list.db-wal': '600',
  })
  expect(service.log()).not.toContain('other users')
  await service.stop()
})

test('a symbolic link to a list that is missing', async () => {
  const folder = await createFolder()
  await mkdir(join(folder, 'data'))
  await symlink('../there.db', join(folder, 'data/rollcall.db'))
  const service = await startService({ folder, launcher: toLauncher('000') })
  expect(toMode(join(folder, 'there.db'))).toBe('600')
  await service.stop()
})

/** Every verb that writes files. */
const COMMANDS = `
  set -e
  export TMPDIR=$PWD/tmp DATABASE_URL=sqlite:data/list.db
  rollcall import in.txt --rejected files/rejected.csv
  rollcall import in.txt --dry-run --list sqlite:empty/list.db
  rollcall backup files/backup.db
  rollcall copy --from sqlite:data/list.db --to sqlite:copy/deep/list.db
  rollcall export --out files/list.csv --cursor-file files/export.cursor
`

test.each(UMASKS)('the files of every command, from the moment they appear, with umask %s', async (umask) => {
  const { folder, shell, write } = await createCliFixture()
  await write('in.txt', ['not an address', ...Array.from({ length: 20_000 }, (_, n) => `user.${n}@site.io`)].join('\n'))
  for (const name of ['files', 'tmp']) await mkdir(join(folder, name))
  const own = readModes(folder)
  const seen = new Map<string, string>()
  let isDone = false
  const running = shell(`umask ${umask}\n${COMMANDS}`).finally(() => (isDone = true))
  while (!isDone) {
    for (const [name, mode] of Object.entries(readModes(folder))) seen.set(`${name} ${mode}`, mode)
    await Bun.sleep(1)
  }
  expect(await running).toMatchObject({ code: 0 })
  // With umask 777, a file has no permissions for a moment.
  const wrong = [...seen].filter(([name, mode]) => !(name.split(' ')[0]! in own) && !['600', '700', '0'].includes(mode))
  expect(wrong).toEqual([])
  expect(readModes(folder)).toEqual({
    ...own,
    copy: '700',
    'copy/deep': '700',
    'copy/deep/list.db': '600',
    data: '700',
    'data/list.db': '600',
    'files/.export.cursor.lock': '600',
    'files/backup.db': '600',
    'files/export.cursor': '600',
    'files/list.csv': '600',
    'files/rejected.csv': '600',
  })
})

test('an existing list that others can read keeps its mode, and the log has the command that changes it', async () => {
  const folder = await createFolder()
  // The path needs quotes in a shell.
  const name = "it's a list.db"
  const [file, env] = [join(folder, name), { DATABASE_URL: `sqlite:${name}` }]
  expect((await runCommand(['import', '-'], { env, folder, stdin: 'ada@site.io\n' })).code).toBe(0)
  await chmod(file, 0o640)

  const service = await startService({ folder, env })
  const [line = '', ...others] = service
    .log()
    .split('\n')
    .filter((text) => text.includes('"level":40'))
  expect(others).toEqual([])
  const { msg } = JSON.parse(line) as { msg: string }
  expect(msg).toStartWith(`other users may read the list: ${file} has mode 0640; run: chmod 600 `)
  const modes = () => ['', '-wal', '-shm'].map((suffix) => toMode(file + suffix))
  expect(modes()).toEqual(['640', '640', '640'])
  expect(Bun.spawnSync(['sh', '-c', msg.slice(msg.indexOf('chmod'))]).exitCode).toBe(0)
  expect(modes()).toEqual(['600', '600', '600'])
  await service.stop('SIGKILL')

  const again = await startService({ folder, env })
  expect(again.log()).not.toContain('"level":40')
  expect((await again.subscribe('bob@site.io')).status).toBe(200)
  await again.stop()
})
