/** Faults of a PostgreSQL server and of the way to it. */

import { getServer, toDatabase } from '../../test/support/postgres.ts'
import type { Fault, Scene } from './fault.ts'

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
    name: 'the server hangs',
    lasts: 8_000,
    responses: '500',
    reason: /does not answer/,
    cause: async () => await (await getServer()).freeze(),
  },
  { name: 'connections are cut again and again', lasts: 3_000, responses: 'either', cause: cutConnections },
  {
    name: 'another session holds a lock on every table',
    lasts: 8_000,
    responses: '500',
    reason: /holds its lock|takes too long/,
    cause: lockTables,
  },
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
]

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

async function lockTables({ list }: Scene) {
  const server = await getServer()
  const tables = await server.run(`SELECT tablename FROM pg_tables WHERE schemaname = 'rollcall'`, list.url)
  const names = tables.map(({ tablename }) => `rollcall.${tablename}`).join(', ')
  // The statements are one transaction, which holds the lock while it sleeps.
  const held = server.run(`LOCK TABLE ${names} IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(8)`, list.url)
  return async () => void (await held)
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
