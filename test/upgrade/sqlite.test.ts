/** An upgrade to a second version, and the way back, of a SQLite list. */

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync, renameSync, statfsSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { getServer } from '../support/postgres.ts'
import { runCommand, startCommand, startService } from '../support/service.ts'
import { until } from '../support/wait.ts'
import { createFolder } from '../support/workspace.ts'
import {
  CHANGED,
  changeSince,
  createSecondVersion,
  FROZEN,
  FROZEN_INBOX,
  readVersion,
  runBlock,
  writeFrozen,
} from './second-version.ts'

const SECOND = await createSecondVersion()
const OLDER = 'its schema is version 1, and this Rollcall uses version 2; start the service with this Rollcall'
const NEWER = 'its schema is version 2, and this Rollcall uses version 1; use a newer Rollcall'

const DONE = 'done: the list has version 2 now'

/** A folder with the frozen list, and its backup. */
async function createScene() {
  const folder = await createFolder()
  const at = (name: string) => join(folder, name)
  writeFrozen('list', at('list.db'))
  writeFrozen('backup', at('backup.db'))
  const env = { DATABASE_URL: 'sqlite:list.db', PORT: '0', BASE_URL: 'http://127.0.0.1:3000' }
  const run = (program: readonly string[] | undefined, args: readonly string[], stdin?: string) =>
    runCommand(args, { folder, env, stdin, ...(program && { program }) })
  return {
    folder,
    at,
    env,
    /** Runs a command of the first version, and of the second. */
    first: (args: readonly string[], stdin?: string) => run(undefined, args, stdin),
    second: (args: readonly string[], stdin?: string) => run(SECOND, args, stdin),
    serveFirst: () => startService({ folder, env }),
    serveSecond: (more: Record<string, string> = {}) =>
      startService({ folder, env: { ...env, ...more }, command: [...SECOND, 'serve'] }),
    names: (text: string) => readdirSync(folder).filter((name) => name.includes(text)),
  }
}

const EXPORT = ['export', '--format', 'txt']
const toText = (emails: readonly string[]) => emails.map((email) => `${email}\n`).join('')

test('the frozen list and its backup are read and changed by this version', async () => {
  const { first } = await createScene()
  expect(await first([...EXPORT, '--list', 'sqlite:backup.db'])).toMatchObject({ code: 0, stdout: toText(FROZEN) })
  expect(await first(EXPORT)).toMatchObject({ code: 0, stdout: toText([...FROZEN, FROZEN_INBOX]) })
  expect(await first(['import', '-'], 'bob@mail.io\nnew@mail.io\n')).toMatchObject({ code: 0 })
  expect((await first(EXPORT)).stdout).toBe(toText([...FROZEN, FROZEN_INBOX, 'new@mail.io']))
  expect((await first(['doctor'])).stdout).toContain('integrity      ok')
})

/** The commands that work on a list as it is. */
const COMMANDS = [
  ['status'],
  ['count'],
  ['has', 'ann@mail.io'],
  EXPORT,
  ['backup', 'b.db'],
  ['doctor'],
  ['import', '-'],
  ['remove', 'ann@mail.io'],
]

test.each(COMMANDS)('%s of a newer version does not migrate the list of an older service', async (...args) => {
  const { at, first, second, serveFirst } = await createScene()
  const service = await serveFirst()
  const { code, stdout, stderr } = await second(args, 'new@mail.io\n')
  expect([code, stdout + stderr]).toEqual([1, expect.stringContaining(OLDER)])
  expect((await service.subscribe('later@mail.io')).status).toBe(200)
  expect(await service.stop()).toBe(0)
  expect(readVersion(at('list.db'))).toBe(1)
  expect((await first(EXPORT)).stdout).toBe(toText([...FROZEN, FROZEN_INBOX, 'later@mail.io']))
})

test('every command of a newer version reads a backup of an older one, and does not change it', async () => {
  const { at, second } = await createScene()
  const bytes = readFileSync(at('backup.db'))
  const from = ['--list', 'sqlite:backup.db']
  for (const [args, stdout] of [
    [['count', ...from], '3\n'],
    [['has', 'cyd@mail.io', ...from], 'Cyd@Mail.io has been on the list since 2024-06-02T00:00:00.000Z\n'],
    [[...EXPORT, ...from], toText(FROZEN)],
    [['status', ...from], expect.stringContaining('addresses   3')],
    [['doctor', ...from], expect.stringContaining('integrity      ok')],
    [['import', '-', '--dry-run', ...from], expect.stringContaining('left out')],
    [['backup', 'second.db', ...from], expect.stringContaining('3 addresses')],
    [['restore', 'backup.db', '--dry-run'], expect.stringContaining('after    3 addresses')],
    [['copy', '--from', 'sqlite:backup.db', '--to', 'sqlite:copy.db'], expect.stringContaining('3 addresses')],
    [['restore', 'backup.db', '--list', 'sqlite:restored.db'], expect.stringContaining('after    3 addresses')],
  ] as const) {
    const found = await second([...args], 'bob@mail.io\n')
    if (args[0] !== 'doctor') expect([args, found.code]).toEqual([args, 0])
    expect(found.stdout).toEqual(stdout as string)
  }
  const postgres = await (await getServer()).createUrl()
  expect((await second(['copy', '--from', 'sqlite:backup.db', '--to', postgres])).code).toBe(0)
  expect(readFileSync(at('backup.db'))).toEqual(bytes)
  for (const name of ['second.db', 'copy.db', 'restored.db']) expect([name, readVersion(at(name))]).toEqual([name, 2])
  for (const list of ['sqlite:second.db', 'sqlite:copy.db', 'sqlite:restored.db', postgres]) {
    expect((await second([...EXPORT, '--list', list])).stdout).toBe(toText(FROZEN))
  }
})

test('every command of the older version refuses a newer list, and changes nothing', async () => {
  const { at, first, second, serveSecond } = await createScene()
  const service = await serveSecond()
  await service.logged(DONE)
  expect(await service.stop()).toBe(0)
  expect((await second(['backup', 'newer.db'])).code).toBe(0)
  const files = ['list.db', 'newer.db']
  const before = files.map((name) => readFileSync(at(name)))
  for (const args of [
    ['serve'],
    ...COMMANDS,
    ['count', '--list', 'sqlite:newer.db'],
    ['restore', 'newer.db', '--list', 'sqlite:other.db'],
    ['copy', '--from', 'sqlite:list.db', '--to', 'sqlite:other.db'],
    ['copy', '--from', 'sqlite:backup.db', '--to', 'sqlite:list.db'],
  ]) {
    const { code, stdout, stderr } = await first(args, 'new@mail.io\n')
    expect([args, code, stdout + stderr]).toEqual([args, 1, expect.stringContaining('use a newer Rollcall')])
  }
  expect(files.map((name) => readFileSync(at(name)))).toEqual(before)
})

test('an empty list of an older version is the target of a copy; one with addresses is not migrated', async () => {
  const { at, first, second } = await createScene()
  expect((await first(['import', '-', '--list', 'sqlite:empty.db'], 'x@mail.io\n')).code).toBe(0)
  expect((await first(['remove', '--forget', 'x@mail.io', '--list', 'sqlite:empty.db'])).code).toBe(0)
  const copy = (to: string) => second(['copy', '--from', 'sqlite:backup.db', '--to', `sqlite:${to}`])
  expect(await copy('empty.db')).toMatchObject({ code: 0 })
  expect(readVersion(at('empty.db'))).toBe(2)
  expect(await copy('list.db')).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') })
  expect(readVersion(at('list.db'))).toBe(1)
})

test('in place: the service migrates once, says so, and keeps the earlier list, which is the way back', async () => {
  const { at, first, names, second, serveSecond } = await createScene()
  const service = await serveSecond({ OPS_PORT: '0' })
  expect(service.log()).toContain('migrating the list from version 1 to 2')
  await service.logged(DONE)
  expect(await (await service.ops('/metrics')).text()).toContain('rollcall_build_info{version="99.0.0"} 1')
  expect((await service.subscribe('later@mail.io')).status).toBe(200)
  expect(await service.stop()).toBe(0)
  const again = await serveSecond()
  expect(again.log()).not.toContain('migrating')
  await again.stop()
  const all = toText([...FROZEN, FROZEN_INBOX, 'later@mail.io'])
  expect((await second(EXPORT)).stdout).toBe(all)
  const [kept = '', ...others] = names('before-upgrade')
  expect(others).toEqual([])
  expect(service.log()).toContain(kept)

  // Back: the first version refuses the list, and changes nothing.
  expect(await first(['count'])).toMatchObject({ code: 1, stderr: expect.stringContaining(NEWER) })
  await expect(startService({ folder: at('.'), env: { DATABASE_URL: 'sqlite:list.db' } })).rejects.toThrow(NEWER)
  expect(readVersion(at('list.db'))).toBe(2)
  expect((await first(['restore', kept])).code).toBe(0)
  expect((await first(['import', '-'], all)).code).toBe(0)
  expect((await first(EXPORT)).stdout).toBe(all)
})

test('rolling: an older service that runs beside ends, loses nothing that it confirmed, and writes nothing more', async () => {
  const { folder, env, second, serveFirst, serveSecond } = await createScene()
  const older = await serveFirst()
  // A command of the older version that runs for long.
  const args = [...EXPORT, '--exec', 'cat >> got', '--cursor-file', 'cursor', '--follow']
  const follower = startCommand(args, { folder, env })
  expect((await older.subscribe('early@mail.io')).status).toBe(200)
  const newer = await serveSecond()
  await newer.logged(DONE)
  expect((await older.subscribe('refused@mail.io')).status).toBe(500)
  expect(await older.process.exited).toBe(1)
  expect(older.log()).toContain('starts the newer Rollcall')
  expect(await follower.ended).toMatchObject({ code: 1, stderr: expect.stringContaining(NEWER) })
  expect((await newer.subscribe('later@mail.io')).status).toBe(200)
  await newer.stop()
  expect((await second(EXPORT)).stdout).toBe(toText([...FROZEN, FROZEN_INBOX, 'early@mail.io', 'later@mail.io']))
})

test('the guide leads back: who left since stays away, and who came, or came back, is on the list', async () => {
  const { folder, env, at, first, names, second } = await createScene()
  renameSync(at('list.db'), at('rollcall.db'))
  const more = { ...env, DATABASE_URL: 'sqlite:rollcall.db' }
  const service = await startService({ folder, env: more, command: [...SECOND, 'serve'] })
  await service.logged(DONE)
  await service.stop()
  const list = ['--list', 'sqlite:rollcall.db']
  await changeSince((args, stdin) => second([...args, ...list], stdin))
  await runBlock('roll-back-1', { folder, env: more, program: SECOND })
  for (const name of ['roll-back-sqlite', 'roll-back-2']) await runBlock(name, { folder, env: more })
  expect((await first([...EXPORT, ...list])).stdout.trim().split('\n').toSorted()).toEqual(CHANGED)
  expect((await first(['has', 'ann@mail.io', ...list])).stdout).toContain('suppressed')
  expect((await first(['doctor', ...list])).stdout).toContain('integrity      ok')
  expect(names('rollcall.before-restore')).toHaveLength(1)
})

test('a migration that fails ends the service, and leaves the list as it was, and no backup', async () => {
  const { at, env, first, folder, names } = await createScene()
  const failing = startCommand(['serve'], {
    folder,
    env: { ...env, TRY_SQLITE: 'INSERT INTO nowhere VALUES (1)' },
    program: SECOND,
  })
  expect(await failing.ended).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/the migration of the list failed, and the service ends: the next start tries again/),
  })
  expect(readVersion(at('list.db'))).toBe(1)
  expect(names('before-upgrade')).toEqual([])
  expect((await first(['count'])).stdout).toBe('4\n')
})

test('two services start at once: one migrates the list, and the other one uses it', async () => {
  const { at, names, second, serveSecond } = await createScene()
  // The frozen list is not in the mode of a list in use, which the first start changes.
  const holding = new Database(at('list.db'))
  holding.run('PRAGMA journal_mode = WAL')
  holding.run('BEGIN IMMEDIATE')
  const services = await Promise.all([serveSecond(), serveSecond()])
  for (const service of services) await service.logged('migrating the list from version 1 to 2')
  holding.run('ROLLBACK')
  holding.close()
  for (const service of services) await service.logged(DONE)
  expect(names('before-upgrade')).toHaveLength(1)
  for (const [index, service] of services.entries()) {
    expect((await service.subscribe(`late.${index}@mail.io`)).status).toBe(200)
    expect(await service.stop()).toBe(0)
  }
  expect((await second(EXPORT)).stdout).toBe(toText([...FROZEN, FROZEN_INBOX, 'late.0@mail.io', 'late.1@mail.io']))
})

/** Takes minutes. */
const SLOW =
  'WITH RECURSIVE t (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t WHERE x < 1000000000) SELECT count(*) FROM t'

test('killed or without space: the list stays as it was, and the next attempt leaves one backup', async () => {
  const { folder, at, env, first, names, serveSecond } = await createScene()
  const killed = await serveSecond({ TRY_SQLITE: SLOW, OPS_PORT: '0' })
  expect((await killed.subscribe('late@mail.io')).status).toBe(500)
  const ready = await killed.ops('/readyz')
  expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('migrated from version 1 to 2')])
  await until(
    () => names('before-upgrade').some((name) => readFileSync(at(name)).length > 0),
    'the migration has begun',
  )
  await killed.stop('SIGKILL')
  expect(readVersion(at('list.db'))).toBe(1)
  expect((await first(['count'])).stdout).toBe('4\n')

  // There is space for one more list of this size, and none for the log of the migration beside it. The file has holes.
  const { bavail, bsize } = statfsSync(folder)
  truncateSync(at('backup.db'), Math.round(bavail * bsize * 0.75))
  const full = startCommand(['serve'], { folder, env: { ...env, DATABASE_URL: 'sqlite:backup.db' }, program: SECOND })
  expect(await full.ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/MiB are free in .*: make space/) })
  expect(readVersion(at('backup.db'))).toBe(1)

  const service = await serveSecond()
  await service.logged(DONE)
  await service.stop()
  expect(readVersion(at('list.db'))).toBe(2)
  expect(names('before-upgrade')).toHaveLength(1)
  expect(names('.partial')).toEqual([])
})
