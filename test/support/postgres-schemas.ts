/** Lists with older schemas for the tests of migrations, what is in them, and a migration that waits in the middle. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { SQL } from 'bun'
import { MIGRATIONS } from '../../src/store/postgres/migrations.ts'
import type { Subscriber, Suppression } from '../../src/subscriber.ts'
import { ROOT } from './paths.ts'
import { getServer, toDatabase } from './postgres.ts'

/** The statements that create the list of `test/store/postgres/fixtures/README.md`. */
export const SCHEMA_1 = gunzipSync(readFileSync(join(ROOT, 'test/store/postgres/fixtures/schema-1.sql.gz'))).toString()

const server = await getServer()

/** Creates a database with that list, which belongs to the user of the URL. */
export async function createSchema1(): Promise<string> {
  const url = await server.createUrl()
  const sql = new SQL({ url, max: 1 })
  await sql.unsafe(SCHEMA_1)
  await sql.close()
  return url
}

/** Creates a database with the same list in a later schema. */
export async function createSchema(version: number): Promise<string> {
  const url = await createSchema1()
  const sql = new SQL({ url, max: 1 })
  for (let next = 2; next <= version; next++) {
    await sql.unsafe(`${MIGRATIONS.get(next)}; UPDATE rollcall.list SET version = ${next}`)
  }
  await sql.close()
  return url
}

/** Reads a list with schema 1, as the store shows it, and a digest of every column. */
export async function readSchema1(url: string) {
  const [list] = await server.run('SELECT version, removal_keys AS keys FROM rollcall.list', url)
  const subscribers = await server.run<Subscriber>(
    'SELECT seq::float8, email, subscribed_at AS "subscribedAt" FROM rollcall.subscribers s ORDER BY s.seq',
    url,
  )
  const suppressions = await server.run<Suppression>(
    `SELECT key, hash, removed_at AS "suppressedAt" FROM rollcall.removed JOIN rollcall.removal_keys ON id = key_id
     ORDER BY hash, key_id`,
    url,
  )
  const digest = await readDigest(url, ['subscribers', 'removal_keys', 'removed'])
  return { list, subscribers: [...subscribers], suppressions: [...suppressions], digest }
}

/** Reads a digest of the columns that every schema has. */
export async function readDigest(url: string, tables: string[]): Promise<unknown[]> {
  const digest = (table: string) => {
    const columns = table === 'subscribers' ? 'seq, email, subscribed_at' : '*'
    return `SELECT md5(string_agg(row::text, ';' ORDER BY row)) AS digest FROM (SELECT ${columns} FROM rollcall.${table}) row`
  }
  return [...(await server.run(tables.map(digest).join(' UNION ALL '), url))]
}

/** Describes tables, columns, constraints, indexes and functions by their names and definitions. */
export async function describeSchema(url: string): Promise<unknown[]> {
  return [
    ...(await server.run(
      `SELECT table_name || '.' || column_name AS name, data_type || is_nullable || is_identity AS definition
       FROM information_schema.columns WHERE table_schema = 'rollcall'
       UNION ALL SELECT conname, conrelid::regclass || pg_get_constraintdef(oid)
       FROM pg_constraint WHERE connamespace = 'rollcall'::regnamespace AND contype <> 'n'
       UNION ALL SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'rollcall'
       UNION ALL SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'rollcall'::regnamespace
       ORDER BY 1, 2`,
      url,
    )),
  ]
}

/** Where a migration can be paused. */
export type PausePoint = 'between two statements' | 'before the version is raised'

/** Makes the next migration wait until the returned function is called. */
export async function pauseMigration(
  url: string,
  point: PausePoint = 'between two statements',
): Promise<() => Promise<unknown>> {
  const [type, result, trigger] =
    point === 'between two statements'
      ? ['event_trigger', '', "EVENT TRIGGER pause ON ddl_command_end WHEN TAG IN ('DROP FUNCTION')"]
      : ['trigger', 'NEW', 'TRIGGER pause BEFORE UPDATE OF version ON rollcall.list FOR EACH ROW']
  await server.run(
    `CREATE TABLE pause AS SELECT true;
     GRANT SELECT ON pause TO PUBLIC;
     CREATE FUNCTION pause() RETURNS ${type} LANGUAGE plpgsql AS $$ BEGIN
       WHILE EXISTS (SELECT FROM public.pause) LOOP PERFORM pg_sleep(0.02); END LOOP;
       RETURN ${result};
     END $$;
     CREATE ${trigger} EXECUTE FUNCTION pause();`,
    url,
  )
  return () => server.run('DELETE FROM pause', url)
}

export async function isPaused(url: string): Promise<boolean> {
  return (await readActivity(url)).some(({ event }) => event === 'PgSleep')
}

export async function countLockWaits(url: string): Promise<number> {
  return (await readActivity(url)).filter(({ type }) => type === 'Lock').length
}

/** Reads what each connection to the database of a URL waits for. */
export async function readActivity(url: string): Promise<Record<string, unknown>[]> {
  return await server.run(
    `SELECT wait_event_type AS type, wait_event AS event FROM pg_stat_activity
     WHERE datname = '${toDatabase(url)}' AND pid <> pg_backend_pid()`,
    server.admin,
  )
}
