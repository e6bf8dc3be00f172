import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { copySqlite } from '../../src/store/sqlite/backup.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { type CliFixture, createCliFixture } from '../support/cli-fixture.ts'
import { toSupportFile } from '../support/paths.ts'
import { startService } from '../support/service.ts'
import { createAddresses } from '../support/store-suite.ts'
import { until } from '../support/wait.ts'

test('the copy has all addresses of one moment while the service writes', async () => {
  const service = await startService()
  const { folder, rows, run } = await createCliFixture()
  const list = `sqlite:${service.folder}/data/rollcall.db`
  let sent = 0
  let isDone = false
  const write = async () => {
    for (; !isDone; sent++) expect((await service.subscribe(`user.${sent}@site.io`)).status).toBe(200)
  }
  const writers = [write(), write(), write()]
  await until(() => sent >= 200)
  const { code, stdout } = await run(['backup', 'copy.db', '--json', '--list', list])
  isDone = true
  await Promise.all(writers)
  expect(code).toBe(0)
  const { subscribers } = JSON.parse(stdout) as { subscribers: number }
  expect(subscribers).toBeGreaterThanOrEqual(200)
  const copy = await rows(`sqlite:${folder}/copy.db`)
  expect(copy).toHaveLength(subscribers)
  expect((await rows(list)).slice(0, subscribers)).toEqual([...copy])
  expect(await readdir(folder)).toEqual(['copy.db'])
  await service.stop()
})

test.each<readonly [string, string[], number, string]>([
  ['the list itself', ['list.db'], 2, 'rollcall: list.db is the list itself\n'],
  ['a folder', ['folder'], 1, 'rollcall: folder: it is a folder\n'],
  ['a file in a missing folder', ['none/b.db'], 1, 'rollcall: none/b.db: there is no such file or folder\n'],
  ['PostgreSQL', ['b.db', '--list', 'postgres://u:secret@127.0.0.1:1/db'], 1, 'use pg_dump'],
])('%s: a line on standard error, and no file is left', async (_, args, code, message) => {
  const { folder, print, run } = await createCliFixture()
  await print(['import', '-'], 'a@site.io\n')
  await mkdir(join(folder, 'folder'))
  const result = await run(['backup', ...args])
  expect(result).toEqual({ code, stdout: '', stderr: expect.stringContaining(message) })
  expect(result.stderr).toMatch(/^rollcall: .*\n$/)
  expect(result.stderr).not.toContain('secret')
  expect(await print(['count'])).toBe('1\n')
  expect((await readdir(folder)).filter((name) => !name.startsWith('list.db'))).toEqual(['folder'])
})

/** Creates a list of one address, and an older backup of it, whose last process was killed: its log (WAL) has an address. */
async function createUsedBackup(): Promise<CliFixture> {
  const fixture = await createCliFixture()
  await fixture.print(['import', '-'], 'ada@site.io\n')
  await fixture.print(['backup', 'copy.db'])
  const writer = Bun.spawn([process.execPath, toSupportFile('killed-writer.ts'), 'copy.db', 'old@site.io'], {
    cwd: fixture.folder,
  })
  await writer.exited
  expect(writer.signalCode).toBe('SIGKILL')
  expect(await readdir(fixture.folder)).toContain('copy.db-wal')
  await fixture.print(['import', '-'], 'bob@site.io\n')
  return fixture
}

const listCopies = async ({ folder }: CliFixture) =>
  (await readdir(folder)).filter((name) => name.includes('copy.db')).toSorted()

test('a backup replaces an older one whose process was killed: no log of that one is left', async () => {
  const fixture = await createUsedBackup()
  expect(await fixture.print(['backup', 'copy.db'])).toBe('copy.db: 2 addresses\n')
  expect(await listCopies(fixture)).toEqual(['copy.db'])
  const rows = await fixture.rows(`sqlite:${fixture.folder}/copy.db`)
  expect(rows.map(({ email }) => email)).toEqual(['ada@site.io', 'bob@site.io'])
})

test('a backup that cannot get its name leaves the older one with all it had', async () => {
  const fixture = await createUsedBackup()
  const file = join(fixture.folder, 'copy.db')
  // A service that uses the older backup.
  const service = await startService({ folder: fixture.folder, env: { DATABASE_URL: `sqlite:${file}` } })
  expect((await service.subscribe('late@site.io')).status).toBe(200)
  const { code, stderr } = await fixture.run(['backup', 'copy.db'])
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'rollcall: copy.db cannot be replaced: it is a list that another process uses\n',
  })
  expect((await service.subscribe('later@site.io')).status).toBe(200)
  await service.stop()
  expect(await listCopies(fixture)).toEqual(['copy.db', 'copy.db-state'])
  const rows = await fixture.rows(`sqlite:${file}`)
  expect(rows.map(({ email }) => email)).toEqual(['ada', 'old', 'late', 'later'].map((name) => `${name}@site.io`))
})

test('a log without its list is not deleted, and the backup gets no name next to it', async () => {
  const fixture = await createUsedBackup()
  const [file, log] = ['copy.db', 'copy.db-wal'].map((name) => join(fixture.folder, name)) as [string, string]
  const content = readFileSync(log)
  rmSync(file)
  const { code, stderr } = await fixture.run(['backup', 'copy.db'])
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('copy.db-wal is the log of another') })
  expect(readFileSync(log)).toEqual(content)
  expect((await listCopies(fixture)).filter((name) => !/-(?:shm|state)$/.test(name))).toEqual(['copy.db-wal'])
})

test('files without content and the journal of a file that is gone do not stay next to a backup', async () => {
  const fixture = await createUsedBackup()
  for (const suffix of ['', '-wal']) rmSync(join(fixture.folder, `copy.db${suffix}`))
  writeFileSync(join(fixture.folder, 'copy.db-wal'), '')
  copyFileSync(join(fixture.folder, 'list.db'), join(fixture.folder, 'copy.db-journal'))
  await fixture.print(['backup', 'copy.db'])
  expect(await listCopies(fixture)).toEqual(['copy.db'])
})

test('a list that shrinks and grows meanwhile is copied', async () => {
  const { folder } = await createCliFixture()
  const file = join(folder, 'list.db')
  const store = openSqliteStore(file)
  const addresses = createAddresses(400)
  let isDone = false
  const change = async () => {
    while (!isDone) {
      await store.add(addresses)
      await store.count()
      await store.remove(addresses.slice(200), { suppress: false })
      // The store works on this thread, and nothing else above waits for the event loop, which has the end of a copy.
      await Bun.sleep(0)
    }
  }
  const changing = change()
  for (let round = 0; round < 8; round++) {
    const copied = await copySqlite(file, join(folder, `copy-${round}.db`), AbortSignal.timeout(30_000))
    expect([200, 400]).toContain(copied)
  }
  isDone = true
  await changing
  await store.close()
})

test('a copy with fewer addresses than the list has counted is refused', async () => {
  const { folder, print, run } = await createCliFixture()
  await print(['import', '-'], 'a@site.io\nb@site.io\n')
  {
    using db = new Database(join(folder, 'list.db'))
    db.run('DELETE FROM subscribers WHERE seq = 2')
  }
  expect(await run(['backup', 'copy.db'])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'rollcall: the copy is incomplete: it has 1 addresses, and the list counted 2\n',
  })
  expect((await readdir(folder)).filter((name) => name.includes('copy.db'))).toEqual([])
})
