/** `backup`. files.test.ts has what it does not replace. */

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createCliFixture } from '../support/cli-fixture.ts'
import { addAndEnd } from '../support/list-file.ts'
import { runCommand, startService } from '../support/service.ts'
import { createSyncCounter } from '../support/sync-counter.ts'
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
  // Those before the start are counted, and later ones may be in the copy too.
  expect(subscribers).toBeGreaterThanOrEqual(200)
  const copy = await rows(`sqlite:${folder}/copy.db`)
  expect(copy.length).toBeGreaterThanOrEqual(subscribers)
  expect((await rows(list)).slice(0, copy.length)).toEqual([...copy])
  expect(await readdir(folder)).toEqual(['copy.db'])
  await service.stop()
})

function runSql(file: string, statement: string): void {
  using db = new Database(file)
  db.run(statement)
}

test('a list is no backup in any mode: after a restore, a copy, or a command that was killed', async () => {
  const { folder, print, run } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  await print(['backup', 'b.db'])
  await print(['restore', 'b.db'])
  await print(['copy', '--from', 'sqlite:b.db', '--to', 'sqlite:copy.db'])
  // Out of WAL mode.
  runSql(join(folder, 'copy.db'), `VACUUM INTO '${folder}/mode.db'`)
  for (const name of ['list.db', 'copy.db', 'mode.db']) {
    const refused = {
      code: 2,
      stdout: '',
      stderr: `rollcall: ${name} is a list, and not a backup: choose another file\n`,
    }
    expect(await run(['backup', name])).toEqual(refused)
    // Commands that read it compact its inbox.
    await addAndEnd('kill', join(folder, name), 'bob@site.io')
    expect(await print(['count', '--list', `sqlite:${name}`])).toBe('2\n')
  }
  // A database of another program.
  const other = {
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('killed.db is a SQLite database, and not a backup'),
  }
  runSql(join(folder, 'killed.db'), 'CREATE TABLE other (x)')
  expect(await run(['backup', 'killed.db'])).toEqual(other)
})

test('a backup and a copy need no shell: the image has none', async () => {
  const { print, shell } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  const script = 'PATH=/none; rollcall backup backup.db && rollcall copy --from sqlite:list.db --to sqlite:copy.db'
  expect(await shell(script)).toMatchObject({ code: 0, stderr: '' })
})

test('a backup and a copy are synced while they are written: one sync at the end would hold up those of a service', async () => {
  const { folder, list, fill } = await createCliFixture()
  await fill(100_000)
  /** Whether a sync found the file with a part of its content. */
  async function isSyncedMeanwhile(args: readonly string[], file: RegExp): Promise<boolean> {
    const counter = await createSyncCounter()
    expect((await runCommand(args, { folder, env: { ...counter.env, DATABASE_URL: list } })).code).toBe(0)
    const syncs = counter.events().filter(({ call, path }) => call === 'sync' && file.test(path))
    const sizes = syncs.map(({ bytes }) => bytes)
    return sizes.some((size) => size > 200_000 && size < Math.max(...sizes))
  }
  // The disk may be faster than the pause between two syncs.
  let runs = 0
  await until(() => isSyncedMeanwhile(['backup', 'b.db'], /\/\.b\.db\.\d+\.partial$/))
  await until(() =>
    isSyncedMeanwhile(['copy', '--from', list, '--to', `sqlite:${++runs}.db`], /\/\.\d+\.db\.\d+\.partial$/),
  )
})

test('commands that only read do not change a backup, so that the next one replaces it', async () => {
  const { folder, list, print, run } = await createCliFixture()
  await addAndEnd('kill', `${folder}/list.db`, 'ada@site.io', 'bob@site.io')
  await print(['backup', 'b.db', '--list', list])
  const content = await readFile(join(folder, 'b.db'))
  const from = ['--list', 'sqlite:b.db']
  // Also those that waited in the inbox of the list.
  expect(await print(['count', ...from])).toBe('2\n')
  expect(await print(['has', 'bob@site.io', ...from])).toContain('bob@site.io has been on the list')
  expect(await print(['export', '--format', 'txt', ...from])).toBe('ada@site.io\nbob@site.io\n')
  expect(await print(['status', ...from])).toMatch(/writable +yes/)
  expect(await print(['import', '-', '--dry-run', ...from], 'cyd@site.io\n')).toMatch(/1 added/)
  await print(['copy', '--from', 'sqlite:b.db', '--to', 'sqlite:copy.db'])
  await run(['doctor', ...from])
  await print(['backup', 'second.db', ...from])
  expect(await readFile(join(folder, 'b.db'))).toEqual(content)
  expect((await readdir(folder)).filter((name) => name.startsWith('b.db'))).toEqual(['b.db'])
  await print(['backup', 'b.db'])
  // One that changes a list makes the backup a list.
  await print(['remove', 'ada@site.io', ...from])
  expect(await run(['backup', 'b.db'])).toMatchObject({ code: 2, stderr: expect.stringContaining('b.db is a list') })
})

test('doctor says that backups have stopped, also when the folder has only what failed ones left', async () => {
  const { folder, print, run } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  const line = async () => (await run(['doctor'])).stdout.match(/^backup +(.*)$/m)?.[1]
  expect(await line()).toBe(`not checked: there is no folder ${folder}/backups`)
  await mkdir(join(folder, 'backups'))
  const found = `${folder}/backups, or the newest copy in it, is of`
  expect(await line()).toStartWith(`ok: ${found} `)
  const old = join(folder, 'backups/rollcall-2026-01-01.db')
  await print(['backup', old])
  expect(await line()).toStartWith(`ok: ${found} `)
  const time = new Date(Date.now() - 49 * 3600 * 1000)
  await utimes(old, time, time)
  // Of a backup that was killed last night.
  await writeFile(join(folder, 'backups/.rollcall-2026-01-03.db.1.partial'), '')
  expect(await line()).toBe(
    `wrong: ${found} ${time.toISOString()}: see why in the log of the backup, such as with: journalctl --unit 'rollcall-backup*'; then make one`,
  )
})
