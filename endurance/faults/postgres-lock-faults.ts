/** Other sessions that lock the tables of a PostgreSQL list, or hold a snapshot of them. */

import { getServer } from '../../test/support/postgres.ts'
import type { Fault, Scene } from './fault.ts'

/** Longer than anything of Rollcall waits for a lock. */
const HELD_S = 5

/** The tables that an acceptance does not need. */
const OTHERS = ['list', 'subscribers', 'suppressions', 'suppression_keys']

export const LOCK_FAULTS: readonly Fault[] = [
  {
    name: 'another session holds a lock on every table',
    lasts: 8_000,
    responses: '500',
    reason: /holds its lock|takes too long/,
    cause: (scene) => lockTables(scene, [['inbox', ...OTHERS]], 8),
  },
  {
    name: 'another session holds a lock on the inbox',
    lasts: 8_000,
    responses: '500',
    reason: /holds its lock|takes too long/,
    cause: (scene) => lockTables(scene, [['inbox']], 8),
  },
  {
    name: `another session holds a lock on ${OTHERS.join(', ')} in turn`,
    lasts: OTHERS.length * HELD_S * 1000,
    responses: '200',
    cause: (scene) =>
      lockTables(
        scene,
        OTHERS.map((table) => [table]),
        HELD_S,
      ),
  },
  { name: 'VACUUM FULL again and again', lasts: 5_000, responses: '200', cause: vacuum },
  {
    // As pg_dump does it. The package of the server has no pg_dump.
    name: 'a slow dump holds its snapshot and its locks',
    lasts: 12_000,
    responses: '200',
    cause: dump,
  },
]

/** Locks sets of tables, one set after the other. */
async function lockTables({ list }: Scene, sets: readonly (readonly string[])[], seconds: number) {
  const server = await getServer()
  const held = (async () => {
    for (const tables of sets) {
      const names = tables.map((table) => `rollcall.${table}`).join(', ')
      // The statements are one transaction, which holds the lock while it sleeps.
      await server.run(`LOCK TABLE ${names} IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(${seconds})`, list.url)
    }
  })()
  return () => held
}

async function vacuum({ list }: Scene) {
  const server = await getServer()
  let isOver = false
  const vacuuming = (async () => {
    while (!isOver) await server.run('VACUUM FULL', list.url)
  })()
  return async () => {
    isOver = true
    await vacuuming
  }
}

async function dump({ list }: Scene) {
  const server = await getServer()
  const names = ['inbox', ...OTHERS].map((table) => `rollcall.${table}`)
  const dumping = server.run(
    `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
     LOCK TABLE ${names.join(', ')} IN ACCESS SHARE MODE;
     SELECT pg_sleep(11);
     ${names.map((name) => `SELECT count(*) FROM ${name};`).join(' ')}
     COMMIT`,
    list.url,
  )
  return async () => void (await dumping)
}
