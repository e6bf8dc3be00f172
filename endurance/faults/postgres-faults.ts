/** Faults of a PostgreSQL server and of the way to it. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getServer, toDatabase } from '../../test/support/postgres.ts'
import type { Fault, Scene } from './fault.ts'
import { COMPACTOR_FAULTS } from './postgres-compactor-faults.ts'
import { DISK_FAULTS } from './postgres-disk-faults.ts'
import { LOCK_FAULTS } from './postgres-lock-faults.ts'

export const POSTGRES_FAULTS: readonly Fault[] = [
  {
    name: 'the server is killed, and started again',
    lasts: 3_000,
    responses: '500',
    reason: /cannot be reached|connection was lost/,
    async cause() {
      const server = await getServer()
      await server.kill()
      return () => server.start()
    },
  },
  {
    // The server then ends all connections and recovers, because the process may have damaged the shared memory.
    name: 'a process of the server is killed again and again',
    lasts: 4_000,
    responses: 'either',
    cause: killBackends,
  },
  {
    name: 'the postmaster hangs, and connections are cut',
    lasts: 10_000,
    responses: '500',
    reason: /does not answer|connection was lost/,
    cause: suspendPostmaster,
  },
  {
    name: 'the server takes no connection: its limit is 0',
    lasts: 4_000,
    responses: '500',
    reason: /no connection left|connection was lost/,
    cause: limitConnections,
  },
  {
    name: 'the server and all of its processes hang for 20 s',
    lasts: 20_000,
    responses: '500',
    reason: /does not answer/,
    cause: async () => await (await getServer()).freeze(),
  },
  { name: 'connections are cut again and again', lasts: 3_000, responses: 'either', cause: cutConnections },
  { name: 'a slow server: each commit takes 0.3 s', lasts: 4_000, responses: '200', cause: slowDown },
  {
    name: 'the database is read-only, and writable again',
    lasts: 3_000,
    responses: '500',
    reason: /read-only|connection was lost/,
    cause: makeReadOnly,
  },
  {
    name: 'the database takes no connections and is renamed, and back',
    lasts: 3_000,
    responses: '500',
    // 55000: it takes no connections.
    reason: /no such database|connection was lost|55000/,
    cause: rename,
  },
  ...LOCK_FAULTS,
  ...DISK_FAULTS,
  ...COMPACTOR_FAULTS,
]

/** Ends the connections of a list with a signal, also while the server starts no process. */
async function signalBackends({ list }: Scene, signal: NodeJS.Signals): Promise<void> {
  const server = await getServer()
  const query = `SELECT pid FROM pg_stat_activity WHERE datname = '${toDatabase(list.url)}'`
  for (const { pid } of await server.run<{ pid: number }>(query, server.admin)) {
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended.
    }
  }
}

async function killBackends(scene: Scene) {
  // The server takes no connection while it recovers.
  const kill = () => signalBackends(scene, 'SIGKILL').catch(() => {})
  let killing = kill()
  const timer = setInterval(() => {
    killing = killing.then(kill)
  }, 1_500)
  return async () => {
    clearInterval(timer)
    await killing
  }
}

async function suspendPostmaster(scene: Scene) {
  const { data } = await getServer()
  const pid = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n', 1)[0])
  await signalBackends(scene, 'SIGTERM')
  process.kill(pid, 'SIGSTOP')
  // A connection may have been made in between.
  return () => void process.kill(pid, 'SIGCONT')
}

async function limitConnections({ list }: Scene) {
  const server = await getServer()
  const set = (limit: number) =>
    server.run(`ALTER DATABASE ${toDatabase(list.url)} CONNECTION LIMIT ${limit}`, server.admin)
  await set(0)
  await server.disconnect(list.url)
  return async () => void (await set(-1))
}

async function cutConnections({ list }: Scene) {
  const server = await getServer()
  let cutting = server.disconnect(list.url)
  const timer = setInterval(() => {
    cutting = cutting.then(() => server.disconnect(list.url))
  }, 500)
  return async () => {
    clearInterval(timer)
    await cutting
  }
}

async function slowDown({ list }: Scene) {
  const server = await getServer()
  await server.run(
    `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.3); RETURN NULL; END $$;
     CREATE TRIGGER slow AFTER INSERT ON rollcall.inbox EXECUTE FUNCTION slow()`,
    list.url,
  )
  return async () => void (await server.run('DROP TRIGGER slow ON rollcall.inbox', list.url))
}

async function makeReadOnly({ list }: Scene) {
  const server = await getServer()
  const set = async (value: 'on' | 'off') => {
    const database = toDatabase(list.url)
    await server.run(`ALTER DATABASE ${database} SET default_transaction_read_only = ${value}`, server.admin)
    await server.disconnect(list.url)
  }
  await set('on')
  return () => set('off')
}

async function rename({ list }: Scene) {
  const server = await getServer()
  const name = toDatabase(list.url)
  const set = (from: string, to: string) => server.run(`ALTER DATABASE ${from} RENAME TO ${to}`, server.admin)
  // A database with connections cannot be renamed, and the service connects again at once.
  await server.run(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`, server.admin)
  await server.disconnect(list.url)
  await set(name, `${name}_away`)
  return async () => {
    await set(`${name}_away`, name)
    await server.run(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`, server.admin)
  }
}
