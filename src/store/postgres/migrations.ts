import { LIST } from './migrations/1-list.ts'
import { SUPPRESSIONS } from './migrations/2-suppressions.ts'
import { NUMBERING } from './migrations/3-numbering.ts'
import { INBOX } from './migrations/4-inbox.ts'
import { COUNTS } from './migrations/5-counts.ts'

/**
 * The numbered migrations of the PostgreSQL schema. A new schema is made by running all of them.
 *
 * The tables after the last migration:
 *
 *   inbox             accepted addresses, in groups, which compaction moves to the list
 *   subscribers       the list
 *   list              one row: the version of the schema, the next seq, the last one that a reader may use, the id of the
 *                     list, where its last number was given out (numbering.ts), and the counts of subscribers. Its lock
 *                     is the lock of all that changes the list.
 *   suppressions      keyed hashes of removed addresses: HMAC-SHA-256 of the identity
 *   suppression_keys  the keys of these hashes: key 1 belongs to this list, the others came with copies
 *
 * A table that grows has one key, with the column by which Citus can distribute it: `shard`, `identity` or `hash`. No table
 * refers to another one, and no index has an expression.
 *
 * A released migration never changes. A new one gets the next number, and follows two rules because processes of older
 * versions may still run:
 *
 * - Its first statement locks the table `list` exclusively. What changes the list locks it first as well, so the migration
 *   waits until no such change is in progress, and cannot deadlock with one. Acceptances lock only `inbox`.
 * - It renames or drops what older processes write to or through. Their statements then fail, they report a StoreError,
 *   and their callers get a 500. They must never write to a place that a newer process does not read.
 */
export const MIGRATIONS: ReadonlyMap<number, string> = new Map([
  [1, LIST],
  [2, SUPPRESSIONS],
  [3, NUMBERING],
  [4, INBOX],
  [5, COUNTS],
])
