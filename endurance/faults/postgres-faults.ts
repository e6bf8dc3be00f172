/** Faults of a PostgreSQL server and of the way to it. */

import { getServer } from '../../test/support/postgres.ts'
import type { Fault, Scene } from './fault.ts'

export const POSTGRES_FAULTS: readonly Fault[] = [
  {
    name: 'the server is killed, and started again',
    lasts: 3_000,
    responses: '500',
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
    cause: async () => await (await getServer()).freeze(),
  },
  { name: 'connections are cut again and again', lasts: 3_000, responses: 'either', cause: cutConnections },
  { name: 'another session holds a lock on every table', lasts: 8_000, responses: '500', cause: lockTables },
]

async function cutConnections({ list }: Scene) {
  const server = await getServer()
  let cutting = server.disconnect(list)
  const timer = setInterval(() => {
    cutting = cutting.then(() => server.disconnect(list))
  }, 500)
  return async () => {
    clearInterval(timer)
    await cutting
  }
}

async function lockTables({ list }: Scene) {
  const server = await getServer()
  const tables = await server.run(`SELECT tablename FROM pg_tables WHERE schemaname = 'rollcall'`, list)
  const names = tables.map(({ tablename }) => `rollcall.${tablename}`).join(', ')
  // The statements are one transaction, which holds the lock while it sleeps.
  const held = server.run(`LOCK TABLE ${names} IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(8)`, list)
  return async () => void (await held)
}
