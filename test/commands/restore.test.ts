import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import type { Address } from '../../src/email.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { type CliFixture, createCliFixture } from '../support/cli-fixture.ts'
import { SMALL_DISK } from '../support/disk.ts'
import { addAndEnd } from '../support/list-file.ts'
import { CLI } from '../support/paths.ts'
import { startService } from '../support/service.ts'

/** The names of all subscribers. Opens the list as every command does. */
async function emails({ folder }: CliFixture, file = 'list.db'): Promise<readonly string[]> {
  const store = openSqliteStore(resolve(folder, file), { create: false })
  const pages = await Array.fromAsync(store.list())
  await store.close()
  return pages.flat().map(({ email }) => email.split('@')[0] ?? '')
}

async function add(file: string, email: string, date: string): Promise<void> {
  const store = openSqliteStore(file)
  await store.import([{ email: email as Address, subscribedAt: new Date(date) }])
  await store.close()
}

/** The files in the folder. */
const names = ({ folder }: CliFixture) => readdirSync(folder).toSorted()

/** A list with ada and bob, and a backup with ada alone. */
async function createBackup(): Promise<CliFixture> {
  const fixture = await createCliFixture()
  const list = join(fixture.folder, 'list.db')
  await add(list, 'ada@site.io', '2024-05-31')
  copyFileSync(list, join(fixture.folder, 'copy.db'))
  await add(list, 'bob@example.org', '2024-06-01')
  return fixture
}

test('the backup gets the name of the list, and the earlier list is kept', async () => {
  const fixture = await createBackup()
  const { folder, run } = fixture
  const { code, stdout, stderr } = await run(['restore', 'copy.db', '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { kept_files: kept, ...summary } = JSON.parse(stdout)
  expect(summary).toEqual({
    file: 'copy.db',
    list: `sqlite:${folder}/list.db`,
    dry_run: false,
    before: { subscribers: 2, reserved: 1, suppressed: 0, last_accepted_at: '2024-06-01T00:00:00.000Z' },
    after: { subscribers: 1, reserved: 0, suppressed: 0, last_accepted_at: '2024-05-31T00:00:00.000Z' },
  })
  expect(kept).toEqual([expect.stringMatching(/list\.before-restore-20\d\d-\d\d-\d\dT\d\d-\d\d-\d\d\.\d+Z\.db$/)])
  expect(await emails(fixture)).toEqual(['ada'])
  expect(await emails(fixture, kept[0])).toEqual(['ada', 'bob'])
  expect(statSync(join(folder, 'list.db')).mode & 0o777).toBe(0o600)
  expect(names(fixture)).toHaveLength(3)
})

test('each restore keeps the list before it, and no earlier one is replaced', async () => {
  const fixture = await createBackup()
  for (let round = 0; round < 3; round++) await fixture.print(['restore', 'copy.db'])
  const kept = names(fixture).filter((name) => name.includes('.before-restore-'))
  expect(kept).toHaveLength(3)
  expect((await Promise.all(kept.map((name) => emails(fixture, name)))).flat().toSorted()).toEqual(
    ['ada', 'bob', 'ada', 'ada'].toSorted(),
  )
})

test('a list that is missing, with its folder, is restored; a link to a list stays a link', async () => {
  const fixture = await createBackup()
  const stdout = await fixture.print(['restore', 'copy.db', '--list', 'sqlite:new/deep/list.db'])
  expect(stdout).toContain('before   no list\nafter    1 address, 0 of them reserved')
  expect(await emails(fixture, 'new/deep/list.db')).toEqual(['ada'])
  expect(statSync(join(fixture.folder, 'new')).mode & 0o777).toBe(0o700)
  symlinkSync('list.db', join(fixture.folder, 'link.db'))
  await fixture.print(['restore', 'copy.db', '--list', 'sqlite:link.db'])
  expect(await emails(fixture)).toEqual(['ada'])
})

test('a dry run checks the backup, and leaves no file and no folder', async () => {
  const fixture = await createBackup()
  const before = names(fixture)
  expect(await fixture.print(['restore', 'copy.db', '--dry-run'])).toContain('dry run  nothing was changed')
  await fixture.print(['restore', 'copy.db', '--dry-run', '--list', 'sqlite:new/list.db'])
  expect(names(fixture)).toEqual(before)
  expect(await emails(fixture)).toEqual(['ada', 'bob'])
  truncateSync(join(fixture.folder, 'copy.db'), statSync(join(fixture.folder, 'copy.db')).size - 4096)
  expect((await fixture.run(['restore', 'copy.db', '--dry-run'])).code).toBe(1)
})

test('it is refused while a service has the list open', async () => {
  const fixture = await createBackup()
  const { folder, run } = fixture
  const refused = { code: 1, stdout: '', stderr: expect.stringContaining('another process uses it') }
  const service = await startService({ folder, env: { DATABASE_URL: 'sqlite:list.db' } })
  expect((await service.subscribe('cyd@site.io')).status).toBe(200)
  expect(await run(['restore', 'copy.db'])).toEqual(refused)
  expect((await service.subscribe('dan@site.io')).status).toBe(200)
  await service.stop()
  expect(names(fixture)).toEqual(['copy.db', 'list.db'])
  expect(await emails(fixture)).toEqual(['ada', 'bob', 'cyd', 'dan'])
})

test('a backup that is not closed, or has a log of another list, is refused, and nothing changes', async () => {
  const fixture = await createBackup()
  await addAndEnd('kill', join(fixture.folder, 'copy.db'), 'eve@site.io')
  const before = names(fixture)
  const { code, stderr } = await fixture.run(['restore', 'copy.db'])
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('copy it with "rollcall backup') })
  expect(names(fixture)).toEqual(before)
  await fixture.print(['backup', 'closed.db', '--list', `sqlite:${fixture.folder}/copy.db`])
  await fixture.print(['restore', 'closed.db'])
  expect(await emails(fixture)).toEqual(['ada', 'eve'])

  writeFileSync(join(fixture.folder, 'closed.db-wal'), 'x')
  expect((await fixture.run(['restore', 'closed.db'])).stderr).toContain('is the log of another list')
})

test('a damaged list is kept, and gives its place to the backup', async () => {
  const fixture = await createBackup()
  const file = join(fixture.folder, 'list.db')
  const content = readFileSync(file)
  writeFileSync(file, 'x'.repeat(content.length))
  const { code, stdout, stderr } = await fixture.run(['restore', 'copy.db', '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('list could not be read') })
  const { kept_files: kept, before } = JSON.parse(stdout) as { kept_files: string[]; before: null }
  expect(before).toBeNull()
  expect(readFileSync(kept[0] ?? '', 'utf8')).toStartWith('xxx')
  expect(await emails(fixture)).toEqual(['ada'])
})

test('the numbers go on above those of the list that is replaced, also with a clock that is behind', async () => {
  const fixture = await createBackup()
  const file = join(fixture.folder, 'list.db')
  runSql(file, 'UPDATE list SET last_seq = 4000000000000000')
  await fixture.print(['restore', 'copy.db'])
  await add(file, 'cyd@site.io', '2024-06-02')
  expect(await fixture.print(['export', '--after', '4000000000000000', '--format', 'txt'])).toBe('cyd@site.io\n')
})

/** Replaces a file. */
const replace = (file: string, create: (file: string) => void) => {
  rmSync(file)
  create(file)
}

function runSql(file: string, statement: string): void {
  using db = new Database(file)
  db.run(statement)
}

function fillPage(file: string): void {
  const content = readFileSync(file)
  writeFileSync(file, content.fill(255, 3 * 4096, 3 * 4096 + 100))
}

const REFUSED: readonly (readonly [string, number, string, (file: string, list: string) => void])[] = [
  ['is damaged', 1, 'copy.db is damaged: ', fillPage],
  ['is cut off', 1, 'copy.db', (file) => truncateSync(file, statSync(file).size - 4096)],
  ['is not a database', 1, 'it is not a database', (file) => writeFileSync(file, 'email\na@b.io\n')],
  ['is empty', 1, 'copy.db: the file is empty', (file) => truncateSync(file)],
  ['is another database', 1, 'not a list', (file) => replace(file, () => runSql(file, 'CREATE TABLE other (x)'))],
  ['has a newer schema', 1, 'its schema is version 99', (file) => runSql(file, 'PRAGMA user_version = 99')],
  ['is missing', 1, 'there is no list at', (file) => rmSync(file)],
  ['is a folder', 1, 'copy.db is not a file', (file) => replace(file, mkdirSync)],
  ['links to the list', 2, 'list.db is the list itself', (file, list) => replace(file, () => symlinkSync(list, file))],
  ['is a name of the list', 2, 'copy.db is the list itself', (file, list) => replace(file, () => linkSync(list, file))],
] as const

test('a backup that cannot be used is refused, and nothing changes', async () => {
  const fixture = await createBackup()
  const [file, list, sound] = ['copy.db', 'list.db', 'sound.db'].map((name) => join(fixture.folder, name)) as [
    string,
    string,
    string,
  ]
  copyFileSync(file, sound)
  for (const [what, code, message, change] of REFUSED) {
    rmSync(file, { force: true, recursive: true })
    copyFileSync(sound, file)
    change(file, list)
    const before = names(fixture)
    const stderr = expect.stringContaining(message)
    expect(await fixture.run(['restore', 'copy.db']), what).toEqual({ code, stdout: '', stderr })
    expect(names(fixture), what).toEqual(before)
    expect(countRows(fixture), what).toBe(2)
  }
})

test('a list in PostgreSQL is a failure that names pg_restore', async () => {
  const { run } = await createCliFixture()
  const { code, stderr } = await run(['restore', 'b.db', '--list', 'postgres://u:secret@127.0.0.1:1/db'])
  expect(code).toBe(1)
  expect(stderr).toContain('use pg_restore')
  expect(stderr).not.toContain('secret')
})

/** The rows of the list, which is closed. */
function countRows({ folder }: CliFixture): number {
  using db = new Database(join(folder, 'list.db'), { readonly: true })
  return db.query<{ rows: number }, []>('SELECT count(*) AS rows FROM subscribers').get()?.rows ?? 0
}

/** Sends a signal to a restore of `large.db` as soon as a file with this text in its name appears. */
async function signalAt(fixture: CliFixture, text: string, signal: NodeJS.Signals): Promise<number | null> {
  const child = fixture.start(['restore', 'large.db'])
  const watcher = watch(fixture.folder, (_, name) => {
    if (!name?.includes(text)) return
    watcher.close()
    child.kill(signal)
  })
  await child.exited
  watcher.close()
  return child.exitCode
}

test('a signal, a full disk or a kill at any step leaves the old list or the new one', async () => {
  const fixture = await createBackup()
  const large = openSqliteStore(join(fixture.folder, 'large.db'))
  await large.import(Array.from({ length: 40_000 }, (_, index) => ({ email: `a.${index}@site.io` as Address })))
  await large.close()
  const before = names(fixture)
  expect(await signalAt(fixture, '.partial', 'SIGTERM')).toBe(143)
  expect(names(fixture)).toEqual(before)

  const child = Bun.spawn([...SMALL_DISK, process.execPath, CLI, 'restore', 'large.db'], {
    cwd: fixture.folder,
    env: { PATH: process.env.PATH, DATABASE_URL: fixture.list },
    stderr: 'pipe',
  })
  expect(await child.stderr.text()).toMatch(/large\.db cannot be copied: .*a limit on the size of a file is reached/)
  expect(await child.exited).toBe(1)
  expect(names(fixture)).toEqual(before)
  expect(countRows(fixture)).toBe(2)

  for (const step of ['.partial', '.before-restore-', '.before-restore-']) {
    await signalAt(fixture, step, 'SIGKILL')
    expect([2, 40_000]).toContain(countRows(fixture))
  }
  await fixture.print(['restore', 'copy.db'])
  expect(await emails(fixture)).toEqual(['ada'])
  expect(names(fixture).filter((name) => name.includes('.partial'))).toEqual([])
})
