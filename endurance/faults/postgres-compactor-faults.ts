/** A second service that compacts a PostgreSQL list, and is killed or stopped in the middle of a slice. */

import { getServer, toDatabase } from '../../test/support/postgres.ts'
import { check, waitFor } from '../check.ts'
import { startLoad } from '../load.ts'
import type { List } from '../rollcall.ts'
import type { Fault, Scene } from './fault.ts'

/** The second service compacts when it has been idle for 250 ms. */
const PAUSE_MS = 400

export const COMPACTOR_FAULTS: readonly Fault[] = [
  {
    name: 'another service is killed in the middle of a slice',
    lasts: 2_000,
    responses: '200',
    cause: (scene) => interruptCompaction(scene, 'SIGKILL'),
  },
  {
    name: 'another service stands still in the middle of a slice',
    lasts: 8_000,
    responses: '200',
    cause: (scene) => interruptCompaction(scene, 'SIGSTOP'),
  },
]

async function interruptCompaction({ list }: Scene, signal: 'SIGKILL' | 'SIGSTOP') {
  const server = await getServer()
  // The user of its connections is another one, by which they are recognized.
  const service = await list.serve({ env: { DATABASE_URL: list.url.replace('//owner:', '//postgres:') } })
  await server.run(
    `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.3); RETURN NULL; END $$;
     CREATE TRIGGER slow AFTER DELETE ON rollcall.inbox EXECUTE FUNCTION slow()`,
    list.url,
  )
  const load = startLoad(() => service.port, { callers: 1, pauseMs: PAUSE_MS, nextEmail: () => 'fault0@example.org' })
  await waitFor('the other service is in a slice', () => isInSlice(list), 30_000)
  service.process.kill(signal)
  const last = await readLastId(list)
  return async () => {
    // A reader moves what the other service did not.
    await list.run(['count'])
    check((await countUpTo(list, last)) === 0, () => 'the inbox still has what the interrupted slice had')
    service.process.kill('SIGCONT')
    const code = await service.stop()
    check(signal === 'SIGKILL' || code === 0, () => `the service that stood still stopped with exit code ${code}`)
    await load.stop()
    await server.run('DROP TRIGGER slow ON rollcall.inbox', list.url)
  }
}

async function isInSlice(list: List): Promise<boolean> {
  const server = await getServer()
  const query = `SELECT FROM pg_stat_activity
    WHERE datname = '${toDatabase(list.url)}' AND usename = 'postgres' AND wait_event = 'PgSleep'`
  return (await server.run(query, server.admin)).length > 0
}

async function readLastId({ url }: List): Promise<number> {
  const server = await getServer()
  const [row] = await server.run<{ id: number }>('SELECT max(id)::float8 AS id FROM rollcall.inbox', url)
  return row?.id ?? 0
}

async function countUpTo({ url }: List, id: number): Promise<number> {
  const server = await getServer()
  return (await server.run(`SELECT FROM rollcall.inbox WHERE id <= ${id}`, url)).length
}
