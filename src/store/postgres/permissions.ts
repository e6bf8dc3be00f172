/** The permissions that a user needs on the tables of a PostgreSQL list. */

import type { SQL } from 'bun'
import { StoreError } from '../../subscriber.ts'

/** What the service does: it appends to the inbox, compacts, and locks the row of `list`, which needs UPDATE. */
const SERVICE = [
  ...['inbox SELECT', 'inbox INSERT', 'inbox DELETE', 'list SELECT', 'list UPDATE'],
  ...[
    'subscribers SELECT',
    'subscribers INSERT',
    'suppressions SELECT',
    'suppressions DELETE',
    'suppression_keys SELECT',
  ],
]

/** What `remove`, `import` and `copy` do besides. */
const COMMANDS = ['subscribers DELETE', 'suppressions INSERT', 'suppressions UPDATE', 'suppression_keys INSERT']

/**
 * Finds what the user may not do.
 *
 * @returns permissions in words, such as `UPDATE on rollcall.list`
 */
export async function findMissingPermissions(sql: SQL, user: 'service' | 'commands'): Promise<readonly string[]> {
  const needed = user === 'service' ? SERVICE : [...SERVICE, ...COMMANDS]
  // By number, because a name of a table raises an error for a user who may not use its schema.
  const rows = await sql<{ permission: string }[]>`
    SELECT 'USAGE on the schema rollcall' AS permission, 0 AS position FROM pg_catalog.pg_namespace
    WHERE nspname = 'rollcall' AND NOT has_schema_privilege(oid, 'USAGE')
    UNION ALL
    SELECT split_part(needed, ' ', 2) || ' on rollcall.' || relname, position
    FROM unnest(${sql.array(needed, 'TEXT')}::text[]) WITH ORDINALITY AS given (needed, position)
    JOIN pg_catalog.pg_class c ON relname = split_part(needed, ' ', 1)
    JOIN pg_catalog.pg_namespace n ON n.oid = relnamespace AND nspname = 'rollcall'
    WHERE NOT has_table_privilege(c.oid, split_part(needed, ' ', 2))
    ORDER BY position`
  return rows.map(({ permission }) => permission)
}

export function createPermissionError(missing: readonly string[]): StoreError {
  return new StoreError(`the user lacks a permission: grant ${missing.join(', ')}`)
}
