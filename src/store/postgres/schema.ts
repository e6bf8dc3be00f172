/** Brings the schema of a PostgreSQL list to the version that this Rollcall knows. */

import { SQL } from 'bun'
import { MissingListError, StoreError } from '../../subscriber.ts'
import type { Connections } from './connections.ts'
import { INSUFFICIENT_PRIVILEGE } from './error.ts'
import { MIGRATIONS } from './migrations.ts'

/** The number of the last migration. */
export const SCHEMA_VERSION = MIGRATIONS.size

/** The key of the advisory lock for migrations, the same in every version: "Roll" in ASCII. */
const MIGRATION_LOCK = 0x526f6c6c

/**
 * Creates the schema or migrates an older one. Any number of processes may do this at once.
 *
 * A migration gets the deadlines of the connection. If a migration takes longer than the service may wait, the owner
 * runs it with a command, which has no deadline for statements.
 *
 * @param create whether to create a schema that is missing
 * @throws StoreError when the schema is missing, newer, or this user may not change it
 */
export async function migrate(connections: Connections, create: boolean): Promise<void> {
  let version = await connections.run(readVersion)
  if (version === 0 && !create) throw new MissingListError('there is no list in this database yet')
  while (version < SCHEMA_VERSION) version = await runNextMigration(connections, version)
  if (version === SCHEMA_VERSION) return
  throw new StoreError(
    `its schema is version ${version}, this Rollcall knows version ${SCHEMA_VERSION}: use a newer Rollcall`,
  )
}

/** Runs one migration, unless another process already did. Returns the version that the schema has afterwards. */
async function runNextMigration(connections: Connections, found: number): Promise<number> {
  try {
    return await connections.transact(async (transaction) => {
      await transaction`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`
      const version = await readVersion(transaction)
      const migration = MIGRATIONS.get(version + 1)
      if (migration === undefined) return version
      await transaction.unsafe(migration)
      await transaction`UPDATE rollcall.list SET version = ${version + 1}`
      return version + 1
    })
  } catch (error) {
    if (!(error instanceof SQL.PostgresError) || error.errno !== INSUFFICIENT_PRIVILEGE) throw error
    throw new StoreError(
      found === 0
        ? 'this user may not create the schema rollcall'
        : `this user may not migrate its schema from version ${found} to ${SCHEMA_VERSION}: run "rollcall count" as its owner`,
    )
  }
}

/** Reads the version of the schema: 0 when there is none. @throws StoreError when its row is gone */
export async function readVersion(sql: SQL): Promise<number> {
  // A scan of the catalog. to_regclass() may answer from a cache that is older than the lock.
  const [table] = await sql<object[]>`
    SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'rollcall' AND tablename = 'list'`
  if (!table) return 0
  const [row] = await sql<{ version: number }[]>`SELECT version FROM rollcall.list`
  if (!row) throw createMissingRowError()
  return row.version
}

export function createMissingRowError(): StoreError {
  return new StoreError('its table rollcall.list has no row: restore the row, or the list, from a backup')
}
