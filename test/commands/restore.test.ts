/** `restore`: a backup takes the place of a list, and the earlier list is kept. */

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
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { WRITE_VERSION_OFFSET } from '../../src/files.ts'
import { PAGE_BYTES } from '../../src/store/sqlite/file.ts'
import { openReadOnly } from '../../src/store/sqlite/read-only.ts'
import { restoreList } from '../../src/store/sqlite/restore.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { toAddress } from '../store/suite.ts'
import { createCliFixture } from '../support/cli-fixture.ts'
import { addAndEnd } from '../support/list-file.ts'
import { startService } from '../support/service.ts'
import { createSyncCounter } from '../support/sync-counter.ts'
import { until } from '../support/wait.ts'

/** A list with ada and bob, and a backup with ada alone. */
async function createBackup() {
  const fixture = await createCliFixture()
  const { folder, print, rows } = fixture
  await print(['import', '-'], 'email,date\nada@site.io,2024-05-31\n')
  copyFileSync(join(folder, 'list.db'), join(folder, 'copy.db'))
  await print(['import', '-'], 'email,date\nbob@example.org,2024-06-01\n')
  return {
    ...fixture,
    at: (name: string) => join(folder, name),
    /** The files in the folder. */
    names: () => readdirSync(folder).toSorted(),
    /** The people on a list. */
    people: async (name = 'list.db') =>
      (await rows(`sqlite:${name}`)).map(({ email }) => email.replace(/@.*/, '')).join(),
  }
}

type Fixture = Awaited<ReturnType<typeof createBackup>>

function runSql(file: string, statement: string): void {
  using db = new Database(file)
  db.run(statement)
}

/** The size of a list that is closed, or whose process was killed. */
function countRows({ at }: Fixture): number {
  // Leaves no log beside a list in WAL mode.
  using db = openReadOnly(at('list.db'))
  return db.query<{ rows: number }, []>('SELECT count(*) AS rows FROM subscribers').get()?.rows ?? 0
}

test('the backup gets the name of the list, and the earlier list is kept, each time', async () => {
  const { folder, at, names, people, print } = await createBackup()
  const { kept_files: kept, ...summary } = JSON.parse(await print(['restore', 'copy.db', '--json']))
  expect(summary).toEqual({
    file: 'copy.db',
    list: `sqlite:${folder}/list.db`,
    dry_run: false,
    before: { subscribers: 2, reserved: 1, suppressed: 0, last_accepted_at: '2024-06-01T00:00:00.000Z', inbox: 0 },
    after: { subscribers: 1, reserved: 0, suppressed: 0, last_accepted_at: '2024-05-31T00:00:00.000Z', inbox: 0 },
  })
  expect(kept).toEqual([expect.stringMatching(/list\.before-restore-20\d\d-\d\d-\d\dT\d\d-\d\d-\d\d\.\d+Z\.db$/)])
  expect([await people(), await people(kept[0])]).toEqual(['ada', 'ada,bob'])
  expect(statSync(at('list.db')).mode & 0o777).toBe(0o600)
  await print(['restore', 'copy.db'])
  expect(names().filter((name) => name.includes('.before-restore-'))).toHaveLength(2)
  expect(await people(kept[0])).toBe('ada,bob')
})

test('what waits in the inbox of a backup counts, and is on the list', async () => {
  const { at, print, people } = await createBackup()
  const store = openSqliteStore(at('copy.db'), { access: 'create' })
  await store.add([toAddress('eve@site.io')])
  await store.close()
  const { after } = JSON.parse(await print(['restore', 'copy.db', '--json']))
  expect(after.subscribers).toBe(2)
  expect(await people()).toBe('ada,eve')
})

test('a list that is missing, with its folder, is restored; a link to a list stays a link', async () => {
  const { at, people, print } = await createBackup()
  const stdout = await print(['restore', 'copy.db', '--list', 'sqlite:new/deep/list.db'])
  expect(stdout).toContain('before   no list\nafter    1 address, 0 of them reserved')
  expect(await people('new/deep/list.db')).toBe('ada')
  expect(statSync(at('new')).mode & 0o777).toBe(0o700)
  symlinkSync('list.db', at('link.db'))
  await print(['restore', 'copy.db', '--list', 'sqlite:link.db'])
  expect(await people()).toBe('ada')
})

test('a dry run checks the backup, and changes no byte, also of a list with an inbox that was killed', async () => {
  const { folder, at, names, people, print, run } = await createBackup()
  await addAndEnd('kill', at('list.db'), 'eve@site.io')
  const look = () =>
    [...names(), '.'].map((name) => [name, statSync(at(name)).mtimeMs, name === '.' || readFileSync(at(name))])
  const before = look()
  expect(before.map(([name]) => name)).toContain('list.db-wal')
  expect(await print(['restore', 'copy.db', '--dry-run'])).toBe(
    `list     sqlite:${folder}/list.db
before   2 addresses, 1 of them reserved, the last one accepted 2024-06-01T00:00:00.000Z; 0 suppressed; 1 in the inbox
after    1 address, 0 of them reserved, the last one accepted 2024-05-31T00:00:00.000Z; 0 suppressed
dry run  nothing was changed
`,
  )
  await print(['restore', 'copy.db', '--dry-run', '--list', 'sqlite:new/list.db'])
  expect(look()).toEqual(before)
  expect(await people()).toBe('ada,bob,eve')
  truncateSync(at('copy.db'), statSync(at('copy.db')).size - PAGE_BYTES)
  expect((await run(['restore', 'copy.db', '--dry-run'])).code).toBe(1)
})

test('it is refused while a service has the list open', async () => {
  const { folder, names, people, run } = await createBackup()
  const service = await startService({ folder, env: { DATABASE_URL: 'sqlite:list.db' } })
  expect((await service.subscribe('cyd@site.io')).status).toBe(200)
  const stderr = expect.stringContaining('another process uses it')
  expect(await run(['restore', 'copy.db'])).toEqual({ code: 1, stdout: '', stderr })
  expect((await service.subscribe('dan@site.io')).status).toBe(200)
  await service.stop()
  expect(names()).toEqual(['copy.db', 'list.db'])
  expect(await people()).toBe('ada,bob,cyd,dan')
})

test('the log of a list that is not closed is restored too; a backup with a log of another list is refused', async () => {
  const { folder, at, names, people, print, run } = await createBackup()
  await print(['backup', 'closed.db', '--list', `sqlite:${folder}/copy.db`])
  await addAndEnd('kill', at('copy.db'), 'eve@site.io')
  const bytes = () => ['copy.db', 'copy.db-wal'].map((name) => readFileSync(at(name)))
  const before = bytes()
  await print(['restore', 'copy.db'])
  expect(await people()).toBe('ada,eve')
  expect(bytes()).toEqual(before)

  writeFileSync(at('closed.db-wal'), 'x')
  const all = names()
  expect((await run(['restore', 'closed.db'])).stderr).toContain('is the write-ahead log of another list')
  expect(names()).toEqual(all)
})

test('a damaged list is kept, and gives its place to the backup', async () => {
  const { at, people, run } = await createBackup()
  writeFileSync(at('list.db'), 'x'.repeat(statSync(at('list.db')).size))
  const { code, stdout, stderr } = await run(['restore', 'copy.db', '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('list could not be read') })
  const { kept_files: kept, before } = JSON.parse(stdout) as { kept_files: string[]; before: null }
  expect(before).toBeNull()
  expect(readFileSync(kept[0] ?? '', 'utf8')).toStartWith('xxx')
  expect(await people()).toBe('ada')
})

test('the log of a damaged list is kept with it: SQLite would play it back into the new list', async () => {
  const { at, people, print } = await createBackup()
  await addAndEnd('kill', at('list.db'), 'eve@site.io')
  const log = readFileSync(at('list.db-wal'))
  // No size of a page: https://sqlite.org/fileformat2.html#page_size
  writeFileSync(at('list.db'), readFileSync(at('list.db')).fill(255, 16, 18))
  const { kept_files: kept } = JSON.parse(await print(['restore', 'copy.db', '--json'])) as { kept_files: string[] }
  expect(kept).toHaveLength(2)
  expect(readFileSync(kept[1] ?? '')).toEqual(log)
  expect(await people()).toBe('ada')
})

test('a list whose head is damaged gives its place to the backup, and is kept', async () => {
  const { at, people, print } = await createBackup()
  const list = new Database(at('list.db'))
  list.run('DELETE FROM list')
  list.close()
  const { kept_files: kept } = JSON.parse(await print(['restore', 'copy.db', '--json'])) as { kept_files: string[] }
  expect(kept).toHaveLength(1)
  expect(await people()).toBe('ada')
})

/** Where the fourth page of a file begins. */
const FOURTH = 3 * PAGE_BYTES

/** Damages the table of the subscribers. */
const damage = (file: string) => writeFileSync(file, readFileSync(file).fill(255, FOURTH, FOURTH + 100))

test.each([
  ['is sound', () => {}],
  ['is damaged', damage],
] as const)(
  'the numbers go on above those of the list that is replaced, if it %s, also with a clock that is behind',
  async (_, change) => {
    const { at, print } = await createBackup()
    runSql(at('list.db'), 'UPDATE list SET last_seq = 4000000000000000')
    change(at('list.db'))
    await print(['restore', 'copy.db'])
    await print(['import', '-'], 'cyd@site.io\n')
    expect(await print(['export', '--after', '4000000000000000', '--format', 'txt'])).toBe('cyd@site.io\n')
  },
)

/** What makes a backup useless: the exit code, what the error says, and a change of the file. */
const REFUSED: readonly (readonly [code: number, says: string, change: (file: string, list: string) => void])[] = [
  [1, 'copy.db is damaged: restore a sound backup (', damage],
  [1, 'copy.db', (file) => truncateSync(file, statSync(file).size - PAGE_BYTES)],
  [1, 'it is not a database', (file) => writeFileSync(file, 'email\na@b.io\n')],
  [1, 'copy.db (the file is empty)', (file) => truncateSync(file)],
  [1, 'its schema is version 99', (file) => runSql(file, 'PRAGMA user_version = 99')],
  [1, 'copy.db: there is no such file or folder', (file) => rmSync(file)],
  [1, 'not a list', (file) => replace(file, () => runSql(file, 'CREATE TABLE other (x)'))],
  [1, 'copy.db cannot be used: it is a folder: name a file', (file) => replace(file, mkdirSync)],
  [
    1,
    'copy.db cannot be used: it is a link to itself: delete it',
    (file) => replace(file, () => symlinkSync(file, file)),
  ],
  [
    1,
    'list.db is not a folder: correct the path',
    (file, list) => replace(file, () => symlinkSync(`${list}/b.db`, file)),
  ],
  [1, 'its name is too long', (file) => replace(file, () => symlinkSync('x'.repeat(300), file))],
  [2, 'list.db is the list itself', (file, list) => replace(file, () => symlinkSync(list, file))],
  [2, 'copy.db is the list itself', (file, list) => replace(file, () => linkSync(list, file))],
]

function replace(file: string, create: (file: string) => void): void {
  rmSync(file)
  create(file)
}

test('a backup that cannot be used is refused, and nothing changes', async () => {
  const fixture = await createBackup()
  const { at, names, run } = fixture
  copyFileSync(at('copy.db'), at('sound.db'))
  for (const [code, says, change] of REFUSED) {
    rmSync(at('copy.db'), { force: true, recursive: true })
    copyFileSync(at('sound.db'), at('copy.db'))
    change(at('copy.db'), at('list.db'))
    const before = names()
    expect(await run(['restore', 'copy.db'])).toEqual({ code, stdout: '', stderr: expect.stringContaining(says) })
    expect(names(), says).toEqual(before)
    // A list in use, and no backup.
    expect(readFileSync(at('list.db'))[WRITE_VERSION_OFFSET], says).toBe(2)
    expect(countRows(fixture), says).toBe(2)
  }
})

/** Kills a restore of `large.db` as soon as a file with this text in its name appears, or lets it end before. */
async function killAt({ folder, start }: Fixture, text: string): Promise<void> {
  const child = start(['restore', 'large.db'])
  const watcher = watch(folder, (_, name) => {
    if (!name?.includes(text)) return
    watcher.close()
    child.kill('SIGKILL')
  })
  await child.exited
  watcher.close()
}

test('a signal, a full disk or a kill at any step leaves the old list or the new one', async () => {
  const fixture = await createBackup()
  const { fill, folder, names, people, print, shell, start } = fixture
  await fill(40_000, 'large.db')
  const before = names()
  const partialSyncs = await createSyncCounter()
  const child = start(['restore', 'large.db'], partialSyncs.env)
  // The command needs much longer to begin.
  const partial = join(await realpath(folder), `.list.db.${child.pid}.partial`)
  const release = partialSyncs.holdSyncsOf(partial)
  await until(() => partialSyncs.count(partial) > 0, 'the copy is synced')
  // Nobody adds to a list that is about to be replaced.
  expect(() => runSql(join(folder, 'list.db'), 'BEGIN IMMEDIATE')).toThrow('locked')
  child.kill('SIGTERM')
  release()
  expect(await child.exited).toBe(143)
  expect(names()).toEqual(before)

  // Files may have 1 MiB. SIGXFSZ would end the process.
  const { code, stderr } = await shell('trap "" XFSZ; ulimit -f 1024; rollcall restore large.db')
  expect(code).toBe(1)
  expect(stderr).toMatch(/large\.db cannot be copied: .*a limit on the size of a file is reached/)
  expect(names()).toEqual(before)
  expect(countRows(fixture)).toBe(2)

  for (const step of ['.partial', '.before-restore-', '.before-restore-']) {
    await killAt(fixture, step)
    expect([2, 40_000]).toContain(countRows(fixture))
  }
  await print(['restore', 'copy.db'])
  expect(await people()).toBe('ada')
  expect(names().filter((name) => name.includes('.partial'))).toEqual([])
})

test('a process that opens the list as soon as it is replaced keeps its log', async () => {
  const { at, people } = await createBackup()
  const { ino } = statSync(at('list.db'))
  let isOver = false
  const { signal } = new AbortController()
  const restored = restoreList(at('copy.db'), at('list.db'), { signal }).finally(() => (isOver = true))
  // The restore goes on in another turn of the event loop: it syncs the folder.
  while (!isOver && statSync(at('list.db')).ino === ino) await new Promise((resolve) => setImmediate(resolve))
  const store = openSqliteStore(at('list.db'), { access: 'create' })
  await store.add([toAddress('cyd@site.io')])
  await restored
  await store.add([toAddress('dan@site.io')])
  await store.close()
  expect(await people()).toBe('ada,cyd,dan')
})

test('a folder in the place of the list is refused, in one line', async () => {
  const { at, run } = await createBackup()
  mkdirSync(at('folder.db'))
  const stderr = `rollcall: the list ${at('folder.db')} cannot be used: it is a folder: name a file\n`
  expect(await run(['restore', 'copy.db', '--list', 'sqlite:folder.db'])).toEqual({ code: 1, stdout: '', stderr })
})
