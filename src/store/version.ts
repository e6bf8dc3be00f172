/**
 * The version of the schema of a list, on both stores. An old program cannot be taught later, so these are the rules:
 *
 * - Reading never migrates, because a service of an older version may use the list.
 * - `serve` migrates its list, and `copy` an empty target on PostgreSQL. On SQLite, it replaces an empty target.
 * - `restore`, and `backup` and `copy` of an older backup, migrate the new file that they write, never the one that they read.
 * - Every other command refuses an older list, and reads an older backup from a copy in memory.
 * - The first release has one version, so what migrates has nothing to do yet. Tests run it with versions of their own.
 * - A process that finds a newer version than its own ends, while it runs too: its supervisor starts the newer program.
 */

import { MigratingError, OutdatedError, StoreError } from '../subscriber.ts'

/** Two versions of a schema: that of a list, and that which this program uses. */
interface Versions {
  readonly found: number
  readonly known: number
}

/** Says that a list cannot be used with this program, and what to do. @param place its path, or `in this database` */
export function toVersionError(place: string, { found, known }: Versions): StoreError {
  const text = `the list ${place} cannot be used: its schema is version ${found}, and this Rollcall uses version ${known}`
  if (found > known) return new OutdatedError(`${text}; use a newer Rollcall`)
  return new StoreError(`${text}; start the service with this Rollcall: it migrates the list`)
}

/** What the calls of a service get while it migrates its list. */
export function toMigratingError({ found, known }: Versions): MigratingError {
  return new MigratingError(`the list is migrated from version ${found} to ${known}: wait, and see the log`)
}

/** The lines of the log at the begin and at the end of a migration. */
export const toMigrationBegin = ({ found, known }: Versions): string =>
  `migrating the list from version ${found} to ${known}: requests get 500 until that is done`
export const toMigrationEnd = ({ known }: Versions): string => `done: the list has version ${known} now`

/** Gets the reason, perhaps more than once, when a newer program has migrated the list: the service must end. */
export type OnOutdated = (reason: string) => void
