/** `copy`: a copy has all of a list, with numbers, dates, suppressions and the id. */

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { link, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PAGE_BYTES } from '../../src/store/sqlite/file.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { toAddresses } from '../store/suite.ts'
import { createCliFixture } from '../support/cli-fixture.ts'
import { getServer } from '../support/postgres.ts'
import { startService } from '../support/service.ts'
import { until, within } from '../support/wait.ts'

test('SQLite to PostgreSQL to SQLite: the same list, and a cursor stays valid', async () => {
  const { folder, list, print, rows, run } = await createCliFixture()
  const postgres = await (await getServer()).createUrl()
  const back = `sqlite:${folder}/new/back.db`
  const toLine = (index: number) =>
    `{"email":"User.${(index * 7919) % 3000}@site.io","date":${1.6e12 + index * 1001}}\n`
  await print(['import', '-'], Array.from({ length: 3000 }, (_, index) => toLine(index)).join(''))
  await print(['remove', ...Array.from({ length: 20 }, (_, index) => `user.${index * 100}@SITE.io`)])
  const sync = ['export', '--format', 'txt', '--cursor-file', 'c']
  await print(sync)
  // A password does not belong into an argument, which other users can see.
  await writeFile(join(folder, 'postgres.url'), `${postgres}\n`)
  for (const { from, to, args } of [
    { from: list, to: postgres, args: ['--from', list, '--to-file', 'postgres.url'] },
    { from: postgres, to: back, args: ['--from-file', 'postgres.url', '--to', back] },
  ]) {
    expect(JSON.parse(await print(['copy', ...args, '--json']))).toEqual({
      from: expect.not.stringContaining('@'),
      to: expect.not.stringContaining('@'),
      ...{ subscribers: 2980, reserved: 0, suppressed: 20 },
    })
    expect(await rows(to)).toEqual([...(await rows(from))])
    expect(await print(['import', '-', '--list', to], 'user.0@site.io\n')).toContain('1 left out')
    const again = await run(['copy', '--from', from, '--to', to])
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('is not empty')])
  }
  // As in every list of ours: more addresses share a large page (https://sqlite.org/fileformat2.html#page_size).
  expect(readFileSync(join(folder, 'new/back.db')).readUInt16BE(16)).toBe(PAGE_BYTES)
  await print(['import', '-', '--list', back], 'new@site.io\n')
  expect(await print([...sync, '--list', back])).toBe('new@site.io\n')
})

test('a list is not copied to itself by any path, and a missing list is not copied', async () => {
  const { folder, list, print, run } = await createCliFixture()
  await print(['import', '-'], 'a@site.io\n')
  await symlink('list.db', join(folder, 'symbolic.db'))
  await link(join(folder, 'list.db'), join(folder, 'hard.db'))
  for (const spelling of ['sqlite:list.db', `sqlite://${folder}/list.db`, 'sqlite:symbolic.db', 'sqlite:hard.db']) {
    expect([spelling, await run(['copy', '--from', list, '--to', spelling])]).toEqual([
      spelling,
      { code: 2, stdout: '', stderr: 'rollcall: --from and --to are the same list\n' },
    ])
  }
  expect((await run(['copy', '--from', 'sqlite:none.db', '--to', 'sqlite:new.db'])).code).toBe(1)
  expect(['none.db', 'new.db'].filter((name) => existsSync(join(folder, name)))).toEqual([])
})

test('a list that has only people who left, or only an inbox, is no target of a copy', async () => {
  const { folder, list, print, run } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  await print(['import', '-', '--suppress', '--list', 'sqlite:left.db'], 'bob@site.io\n')
  const store = openSqliteStore(join(folder, 'inbox.db'), { access: 'create' })
  await store.add(toAddresses('cyd@site.io'))
  await store.close()
  for (const name of ['left.db', 'inbox.db']) {
    const before = readFileSync(join(folder, name))
    const { code, stderr } = await run(['copy', '--from', list, '--to', `sqlite:${name}`])
    expect([name, code, stderr]).toEqual([name, 1, expect.stringContaining('is not empty')])
    expect(readFileSync(join(folder, name))).toEqual(before)
  }
})

test('a copy that is stopped, killed or fails leaves nothing at the target, and the next one completes it', async () => {
  const { folder, list, fill, print, rows, shell, start } = await createCliFixture()
  await fill(80_000)
  const isPartial = async () => (await readdir(folder)).some((name) => name.endsWith('.partial'))
  const copy = ['copy', '--from', list, '--to', 'sqlite:copy.db']
  /** Ends a copy in its middle. False when it was faster than the signal. */
  async function isEnded(signal: 'SIGINT' | 'SIGHUP' | 'SIGKILL', ...codes: readonly number[]): Promise<boolean> {
    const command = start(copy)
    await until(isPartial, 'the copy has begun')
    command.kill(signal)
    // npm passes on a signal that its process group also got. Of two that are the same, the system may make one, and it may swap others.
    command.kill('SIGTERM')
    if (codes.includes(await within(command.exited, 'the end of the copy'))) {
      if (signal !== 'SIGKILL') expect(await isPartial()).toBe(false)
      return !existsSync(join(folder, 'copy.db'))
    }
    await rm(join(folder, 'copy.db'))
    return false
  }
  await until(() => isEnded('SIGINT', 130, 143))
  // Somebody closed the terminal.
  await until(() => isEnded('SIGHUP', 129, 143))
  await until(() => isEnded('SIGKILL', 137))
  // The files of the target may have 256 KiB. SIGXFSZ would end the process.
  const full = await shell(`trap "" XFSZ; ulimit -f 256; rollcall copy --from "$DATABASE_URL" --to sqlite:full.db`)
  expect(full).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(/^rollcall: .*\n$/) })
  await print(copy)
  expect((await readdir(folder)).toSorted()).toEqual(['copy.db', 'list.db'])
  expect(statSync(join(folder, 'copy.db')).mode & 0o777).toBe(0o600)
  expect(Bun.hash(JSON.stringify(await rows('sqlite:copy.db')))).toBe(Bun.hash(JSON.stringify(await rows())))
})

test('a copy that failed under the lock of its target does not hinder the next one', async () => {
  const { folder, list, print } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  {
    using db = new Database(join(folder, 'copy.db'))
    db.run('BEGIN EXCLUSIVE')
    db.run('COMMIT')
  }
  expect(statSync(join(folder, 'copy.db')).size).toBeGreaterThan(0)
  await print(['copy', '--from', list, '--to', 'sqlite:copy.db'])
  expect(await print(['count', '--list', 'sqlite:copy.db'])).toBe('1\n')
})

test('a copy waits for no service: one that uses the target keeps it', async () => {
  const { list, print, run } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  const service = await startService()
  const target = `sqlite:${service.folder}/data/rollcall.db`
  expect(await run(['copy', '--from', list, '--to', target])).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/another process uses it: stop the service/),
  })
  await service.stop()
  await print(['copy', '--from', list, '--to', target])
  expect(await print(['count', '--list', target])).toBe('1\n')
  // It is a list, and no backup that the next one replaces.
  expect(await run(['backup', `${service.folder}/data/rollcall.db`])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is a list, and not a backup'),
  })
})
