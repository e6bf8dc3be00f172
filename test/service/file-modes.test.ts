/** Only the owner can read what holds addresses: files have mode 0600 and folders 0700, under any umask. */

import { expect, onTestFinished, test } from 'bun:test'
import { chmodSync, readdirSync, statSync } from 'node:fs'
import { chmod, mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createCliFixture } from '../support/cli-fixture.ts'
import { createFolder, runCommand, startService } from '../support/service.ts'

/** Sets the umask of the command that follows. 777 takes all permissions from the owner too. */
const toLauncher = (umask: string) => ['sh', '-c', `umask ${umask}; exec "$@"`, 'sh']

const UMASKS = ['000', '022', '777']

async function createPlace(): Promise<string> {
  const folder = await createFolder()
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Returns the mode of a file or folder, such as `600`; undefined when it is missing. */
function toMode(path: string): string | undefined {
  const status = statSync(path, { throwIfNoEntry: false })
  return status && (status.mode & 0o777).toString(8)
}

/** Returns the mode of each file and folder below a folder. Process numbers and random names are left out. */
function readModes(folder: string): ReadonlyMap<string, string> {
  const modes = new Map<string, string>()
  for (const entry of readdirSync(folder, { recursive: true })) {
    const mode = toMode(join(folder, String(entry)))
    if (mode)
      modes.set(
        String(entry)
          .replace(/\.\d+\.partial/, '.partial')
          .replace(/rollcall-\w+/, 'rollcall-X'),
        mode,
      )
  }
  return modes
}

test.each(UMASKS)('the list of a service and its folders, with umask %s', async (umask) => {
  const folder = await createPlace()
  const env = { DATABASE_URL: 'sqlite:a/b/list.db' }
  const service = await startService({ folder, env, launcher: toLauncher(umask) })
  expect((await service.subscribe('ada@example.org')).status).toBe(200)
  expect(Object.fromEntries(readModes(folder))).toEqual({
    a: '700',
    'a/b': '700',
    'a/b/list.db': '600',
    'a/b/list.db-shm': '600',
    'a/b/list.db-wal': '600',
  })
  expect(service.log()).not.toContain('"level":40')
  await service.stop()
})

test('a symbolic link to a list that is missing', async () => {
  const folder = await createPlace()
  await mkdir(join(folder, 'data'))
  await symlink('../there.db', join(folder, 'data/rollcall.db'))
  const service = await startService({ folder, launcher: toLauncher('000') })
  expect(toMode(join(folder, 'there.db'))).toBe('600')
  await service.stop()
})

/** Every verb that writes files. */
const COMMANDS = `
  set -e
  mkdir -m 777 files tmp
  export TMPDIR=$PWD/tmp DATABASE_URL=sqlite:data/list.db
  umask "$UMASK_OF_TEST"
  rollcall import in.txt --rejected files/rejected.csv
  rollcall import in.txt --dry-run --list sqlite:empty/list.db --rejected files/dry.csv
  rollcall backup files/backup.db
  rollcall copy --from sqlite:data/list.db --to sqlite:copy/deep/list.db
  rollcall export --out files/list.csv --cursor-file files/export.cursor
`

test.each(UMASKS)('the files of every command, from the moment they appear, with umask %s', async (umask) => {
  const { folder, shell, write } = await createCliFixture()
  const addresses = Array.from({ length: 20_000 }, (_, index) => `user.${index}@site.io`)
  await write('in.txt', ['not an address', ...addresses].join('\n'))
  let isDone = false
  const running = shell(COMMANDS.replace('"$UMASK_OF_TEST"', umask)).finally(() => (isDone = true))
  const seen = new Map<string, Set<string>>()
  const look = () => {
    for (const [name, mode] of readModes(folder)) seen.set(name, (seen.get(name) ?? new Set()).add(mode))
  }
  while (!isDone) {
    look()
    await Bun.sleep(1)
  }
  const { code, stderr } = await running
  // The last file may appear just before the last command ends.
  look()
  expect({ code, stderr }).toMatchObject({ code: 0 })

  for (const name of ['in.txt', 'files', 'tmp']) seen.delete(name)
  const names = [...seen.keys()]
  const files = names.filter((name) => /\.(?:csv|cursor|db|db-\w+|lock|partial|partial-\w+)$/.test(name))
  const folders = names.filter((name) => !files.includes(name))
  expect(folders.toSorted()).toEqual(['copy', 'copy/deep', 'data'])
  for (const name of [
    'copy/deep/list.db',
    'data/list.db',
    'data/list.db-wal',
    'files/.backup.db.partial',
    'files/backup.db',
    'files/export.cursor',
    'files/list.csv',
    'files/rejected.csv',
  ]) {
    expect(files).toContain(name)
  }
  // With umask 777, a file has no permissions for a moment. A journal may be seen at this moment only.
  const toSeen = (name: string) => [...(seen.get(name) ?? [])].filter((mode) => mode !== '0')
  for (const name of files) for (const mode of toSeen(name)) expect([name, mode]).toEqual([name, '600'])
  for (const name of folders) expect([name, toSeen(name)]).toEqual([name, ['700']])
})

test('a backup replaces the temporary file of an earlier one, and not only its content', async () => {
  const { folder, shell } = await createCliFixture()
  // The process keeps its number when the shell replaces itself.
  const { code, stderr } = await shell(`
    echo ada@site.io | rollcall import - &&
    touch .copy.db.$$.partial && chmod 666 .copy.db.$$.partial && exec "$bun" "$cli" backup copy.db
  `)
  expect({ code, stderr }).toMatchObject({ code: 0 })
  expect(toMode(join(folder, 'copy.db'))).toBe('600')
})

test('an existing list that others can read keeps its mode, and the log has the command that changes it', async () => {
  const folder = await createPlace()
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
  const { msg, mode } = JSON.parse(line) as { msg: string; mode: string }
  expect(mode).toBe('0640')
  expect(msg).toStartWith(`other users may read the list: ${file} has mode 0640; run: chmod 600 `)
  const modes = () => ['', '-wal', '-shm'].map((suffix) => toMode(file + suffix))
  expect(modes()).toEqual(['640', '640', '640'])
  expect(Bun.spawnSync(['sh', '-c', msg.slice(msg.indexOf('chmod'))]).exitCode).toBe(0)
  expect(modes()).toEqual(['600', '600', '600'])
  await service.stop('SIGKILL')

  const again = await startService({ folder, env })
  expect(again.log()).not.toContain('"level":40')
  expect((await again.subscribe('bob@site.io')).status).toBe(200)
  await again.stop('SIGKILL')
  // The log of a process that was killed holds addresses too.
  chmodSync(`${file}-wal`, 0o644)
  const third = await startService({ folder, env })
  expect(third.log()).toContain(`${file}-wal has mode 0644; run: chmod 600 `)
  await third.stop()
})
