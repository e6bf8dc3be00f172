/** The checks of a PostgreSQL list. They change nothing: what they write is rolled back. */

import type { SQL } from 'bun'
import type { PostgresServer } from '../../config/postgres-url.ts'
import { StoreError } from '../../subscriber.ts'
import { type CheckResult, type CursorCheck, checkDates, checkInbox, runCheck } from '../check.ts'
import { createClient } from './client.ts'
import { IDLE_MS, readInbox, readInboxSince } from './inbox.ts'
import { readHead, readWaiting, tryWrite } from './read.ts'
import { SCHEMA_VERSION } from './schema.ts'

/** The major versions that the statements of this Rollcall were written for. */
export const VERSIONS = { first: 15, last: 18 } as const

/** Runs all checks of a list. Without a list of the present schema, only the first one. */
export async function* checkPostgresList(
  server: PostgresServer,
  cursors: readonly CursorCheck[] = [],
): AsyncGenerator<CheckResult> {
  const client = createClient({ server, create: false })
  const run = (check: string, work: (sql: SQL) => Promise<string>) => runCheck(check, () => client.run(work))
  try {
    const schema = await run('schema', async () => `version ${SCHEMA_VERSION}`)
    yield schema
    if (!schema.ok) return
    yield run('server', checkServer)
    yield runCheck('durability', () => client.rollBack(checkDurability))
    yield run('inbox', async (sql) => checkInbox((await readInbox(sql)).size, await readInboxSince(sql)))
    yield runCheck('dates', async () => checkDates(await client.read(readFirstAndLast)))
    for (const check of cursors) {
      yield run('cursor', async (sql) => check(await readHead(sql), (after) => readWaiting(sql, after)))
    }
  } finally {
    await client.close()
  }
}

async function readFirstAndLast(sql: SQL) {
  const [{ first, last }] = await sql<[{ first: Date | null; last: Date | null }]>`
    SELECT min(subscribed_at) AS first, max(subscribed_at) AS last FROM rollcall.subscribers`
  return { first: first ?? undefined, last: last ?? undefined }
}

async function checkServer(sql: SQL): Promise<string> {
  const [row] = await sql<[{ version: string; major: number }]>`
    SELECT current_setting('server_version') AS version,
           current_setting('server_version_num')::integer / 10000 AS major`
  if (row.major >= VERSIONS.first && row.major <= VERSIONS.last) return `PostgreSQL ${row.version}`
  throw new StoreError(`PostgreSQL ${row.version}: Rollcall is made for versions ${VERSIONS.first} to ${VERSIONS.last}`)
}

async function checkDurability(sql: SQL): Promise<string> {
  await tryWrite(sql)
  // As compaction does: beside a publication, PostgreSQL refuses an UPDATE of a table that lost its primary key.
  await sql`
    SELECT set_config('lock_timeout', '10s', true),
           set_config('idle_in_transaction_session_timeout', ${String(IDLE_MS)}, true)`
  await sql`UPDATE rollcall.list SET last_seq = last_seq`
  const [row] = await sql<[{ isSafe: boolean }]>`SELECT current_setting('full_page_writes')::boolean AS "isSafe"`
  if (row.isSafe) return 'the user may add addresses and lock the list, and commits are durable'
  throw new StoreError(
    'a crash of the server loses confirmed addresses: turn on full_page_writes, and reload the server',
  )
}
