/** Faults of a PostgreSQL server, of the way to it, and of what other sessions do. */

import { getServer, toDatabase } from '../../test/support/postgres.ts'
import type { Fault, Scene } from './fault.ts'

export const POSTGRES_FAULTS: readonly Fault[] = [
  { name: 'the server is killed, and started again', lasts: 3_000, responses: '500', cause: killServer },
  {
    // The server then ends all connections and recovers, because the process may have damaged the shared memory.
    name: 'a process of the server is killed again and again',
    lasts: 4_000,
    responses: 'either',
    cause: (scene) => repeat(1_500, () => killBackends(scene)),
  },
  {
    name: 'the server and all of its processes hang for 20 s',
    lasts: 20_000,
    responses: '500',
    cause: async () => await (await getServer()).freeze(),
  },
  {
    name: 'connections are cut again and again',
    lasts: 3_000,
    responses: 'either',
    cause: async ({ list }) => repeat(500, async () => await (await getServer()).disconnect(list.url)),
  },
  {
    name: 'the server takes no connection: its limit is 0',
    lasts: 4_000,
    responses: '500',
    cause: (scene) => alter(scene, 'CONNECTION LIMIT 0', 'CONNECTION LIMIT -1'),
  },
  {
    name: 'the database is read-only, and writable again',
    lasts: 3_000,
    responses: '500',
    cause: (scene) => alter(scene, 'SET default_transaction_read_only = on', 'RESET default_transaction_read_only'),
  },
  {
    name: 'commits do not wait for the disk, and do again',
    lasts: 3_000,
    responses: '500',
    reason: /synchronous_commit/,
    cause: stopWaiting,
  },
  {
    name: 'a slow server: each commit takes 0.3 s',
    lasts: 4_000,
    responses: '200',
    cause: (scene) => slowDown(scene, 'INSERT'),
  },
  {
    name: 'another service is killed in the middle of a slice',
    lasts: 3_000,
    responses: '200',
    cause: interruptCompaction,
  },
  {
    name: 'another session holds a lock on the inbox',
    lasts: 8_000,
    responses: '500',
    cause: (scene) => lockTable(scene, 'inbox'),
  },
  {
    name: 'another session holds a lock on the list of subscribers',
    lasts: 8_000,
    responses: '200',
    cause: (scene) => lockTable(scene, 'subscribers'),
  },
]

async function killServer() {
  const server = await getServer()
  await server.kill()
  return () => server.start()
}

/** Does work again and again, also when it fails. */
async function repeat(milliseconds: number, work: () => Promise<unknown>) {
  // The server takes no connection while it recovers.
  const attempt = () => work().catch(() => {})
  let working = attempt()
  const timer = setInterval(() => {
    working = working.then(attempt)
  }, milliseconds)
  return async () => {
    clearInterval(timer)
    await working
  }
}

async function killBackends({ list }: Scene): Promise<void> {
  const server = await getServer()
  const query = `SELECT pid FROM pg_stat_activity WHERE datname = '${toDatabase(list.url)}'`
  for (const { pid } of await server.run<{ pid: number }>(query, server.admin)) process.kill(pid, 'SIGKILL')
}

/** Changes the database for new connections, and cuts those that there are. */
async function alter({ list }: Scene, change: string, back: string) {
  const server = await getServer()
  const set = async (clause: string) => {
    await server.run(`ALTER DATABASE ${toDatabase(list.url)} ${clause}`, server.admin)
    await server.disconnect(list.url)
  }
  await set(change)
  return () => set(back)
}

/** A setting of the server, which connections take over at once. */
async function stopWaiting() {
  const server = await getServer()
  const set = async (clause: string) => {
    await server.run(`ALTER SYSTEM ${clause}`, server.admin)
    await server.run('SELECT pg_reload_conf()', server.admin)
  }
  await set('SET synchronous_commit = off')
  return () => set('RESET synchronous_commit')
}

async function slowDown({ list }: Scene, statement: 'INSERT' | 'DELETE') {
  const server = await getServer()
  await server.run(
    `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.3); RETURN NULL; END $$;
     CREATE TRIGGER slow AFTER ${statement} ON rollcall.inbox EXECUTE FUNCTION slow()`,
    list.url,
  )
  return () => server.run('DROP FUNCTION slow CASCADE', list.url)
}

/** Another service, whose slices are slow, compacts, and is killed meanwhile. */
async function interruptCompaction(scene: Scene) {
  const end = await slowDown(scene, 'DELETE')
  const service = await scene.list.serve()
  await Bun.sleep(1_000)
  await service.stop('SIGKILL')
  return end
}

/** Holds a lock for longer than anything of Rollcall waits. */
async function lockTable({ list }: Scene, table: string) {
  const server = await getServer()
  // The statements are one transaction, which holds the lock while it sleeps.
  const statements = `LOCK TABLE rollcall.${table} IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(8)`
  const held = server.run(statements, list.url)
  return () => held
}
