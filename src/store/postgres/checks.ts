/** The checks of a PostgreSQL list. They only read. */

import type { SQL } from 'bun'
import { MissingListError, StoreError } from '../../subscriber.ts'
import { type CheckResult, type CursorCheck, runCheck } from '../check.ts'
import { type Connections, createConnections } from './connections.ts'
import { checkCounts } from './counts.ts'
import { readNumbering } from './numbering.ts'
import { explain, type PoolOptions, toStoreError } from './pool.ts'
import { checkWritable } from './read.ts'
import { findDurabilityWarnings } from './replication.ts'
import { readVersion, SCHEMA_VERSION } from './schema.ts'

/** The major versions that the statements of this Rollcall were written for. */
const VERSIONS = { first: 15, last: 18 } as const

/** Runs all checks of a list. Without a list of the present schema, only those that need none. */
export async function* checkPostgresList(
  list: Pick<PoolOptions, 'parameters' | 'name'>,
  cursors: readonly CursorCheck[],
): AsyncGenerator<CheckResult> {
  const run = (check: string, work: (sql: SQL) => Promise<string>) =>
    runCheck(check, () => withConnections(list, (connections) => connections.run(work)))

  const server = await runCheck('server', () => withConnections(list, checkServer))
  yield server
  if (!server.ok && !server.message.includes(UNSUPPORTED)) return
  yield run('durability', checkDurability)
  const schema = await run('schema', checkSchema)
  yield schema
  if (!schema.ok) return
  yield run('writable', (sql) => checkWritable(sql).then(() => 'the user may add addresses'))
  yield run('indexes', checkIndexes)
  yield run('list row', checkListRow)
  yield run('counts', checkCounts)
  yield run('inbox', checkInbox)
  for (const cursor of cursors) yield run(cursor.check, async (sql) => cursor.run(await readNumbering(sql)))
}

const UNSUPPORTED = 'Rollcall is made for'

/** Opens connections with the settings of Rollcall for some work. @throws StoreError for every error */
async function withConnections<T>(
  list: Pick<PoolOptions, 'parameters' | 'name'>,
  work: (connections: Connections) => Promise<T>,
): Promise<T> {
  const connections = createConnections({ ...list, hasDeadline: false })
  try {
    return await work(connections)
  } catch (error) {
    throw error instanceof StoreError ? error : toStoreError(list.name, await explain(error, connections))
  } finally {
    await connections.close()
  }
}

async function checkServer(connections: Connections): Promise<string> {
  const version = await connections.run(checkVersion)
  return (await connections.isPooled()) ? `${version}, behind a pooler` : version
}

async function checkVersion(sql: SQL): Promise<string> {
  const [row] = await sql<{ version: string; major: number }[]>`
    SELECT current_setting('server_version') AS version,
           current_setting('server_version_num')::integer / 10000 AS major`
  const { version = '', major = 0 } = row ?? {}
  if (major >= VERSIONS.first && major <= VERSIONS.last) return `PostgreSQL ${version}`
  throw new StoreError(`PostgreSQL ${version}: ${UNSUPPORTED} versions ${VERSIONS.first} to ${VERSIONS.last}`)
}

async function checkDurability(sql: SQL): Promise<string> {
  const warnings = await findDurabilityWarnings(sql)
  if (warnings.length > 0) throw new StoreError(warnings.join('; '))
  const [row] = await sql<[{ commit: string }]>`SELECT current_setting('synchronous_commit') AS commit`
  const isSafe = ['on', 'remote_apply'].includes(row.commit)
  return `fsync, full_page_writes are on; synchronous_commit is ${row.commit}${isSafe ? '' : ', and each transaction of Rollcall turns it on'}`
}

/** Finds what `status` and the start of the service warn of. @throws StoreError for every error */
export async function findPostgresWarnings(list: Pick<PoolOptions, 'parameters' | 'name'>): Promise<readonly string[]> {
  return await withConnections(list, (connections) => connections.run(findDurabilityWarnings))
}

async function checkSchema(sql: SQL): Promise<string> {
  const version = await readVersion(sql)
  if (version === SCHEMA_VERSION) return `version ${version}`
  if (version === 0) {
    throw new MissingListError('there is no list in this database: check DATABASE_URL; the service creates one')
  }
  const advice =
    version < SCHEMA_VERSION ? 'run "rollcall count" as its owner, which migrates it' : 'use a newer Rollcall'
  throw new StoreError(`it is version ${version}, and this Rollcall uses version ${SCHEMA_VERSION}: ${advice}`)
}

/** Without one of them, an address may be on the list twice, or each search reads the whole list. */
const INDEXES = [
  ...['inbox_pkey', 'subscribers_pkey', 'subscribers_seq'],
  ...['suppressions_pkey', 'suppression_keys_pkey'],
] as const

async function checkIndexes(sql: SQL): Promise<string> {
  const rows = await sql<{ name: string; valid: boolean }[]>`
    SELECT wanted.name, coalesce(indisvalid AND indisready AND (indisunique OR wanted.name = 'subscribers_seq'), false) AS valid
    FROM unnest(${sql.array([...INDEXES], 'TEXT')}::text[]) AS wanted (name)
    LEFT JOIN (pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'rollcall'
               JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid) ON c.relname = wanted.name`
  const [broken] = rows.filter(({ valid }) => !valid)
  if (!broken) return `${rows.length} indexes are valid`
  throw new StoreError(
    `the index rollcall.${broken.name} is missing or not valid: run REINDEX INDEX rollcall.${broken.name}, or restore the schema from a dump`,
  )
}

/** Compares the row of `list` with the list, which a partial restore may not have kept equal. */
async function checkListRow(sql: SQL): Promise<string> {
  const [row] = await sql<{ rows: number; highest: number }[]>`
    SELECT (SELECT count(*) FROM rollcall.list)::integer AS rows,
           (SELECT coalesce(max(seq), 0) FROM rollcall.subscribers)::float8 AS highest`
  const { rows = 0, highest = 0 } = row ?? {}
  if (rows !== 1) throw new StoreError(`the table rollcall.list has ${rows} rows instead of 1: restore it from a dump`)
  const { last } = await readNumbering(sql)
  if (last >= highest) return `the last number is ${last}`
  throw new StoreError(
    `next_seq in rollcall.list is ${last + 1}, but the list has number ${highest}: set it above, or numbers are used twice`,
  )
}

/** What waits in the inbox. A service moves it while it is idle, and every command that reads does. */
async function checkInbox(sql: SQL): Promise<string> {
  const [row] = await sql<{ waiting: number; seconds: number }[]>`
    SELECT coalesce(sum(size), 0)::float8 AS waiting,
           coalesce(extract(epoch FROM clock_timestamp() - min(accepted_at)), 0)::float8 AS seconds
    FROM rollcall.inbox`
  const { waiting = 0, seconds = 0 } = row ?? {}
  return waiting === 0 ? 'empty' : `${waiting} addresses wait for ${Math.round(seconds)} s at most`
}
