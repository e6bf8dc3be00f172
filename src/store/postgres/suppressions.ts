/**
 * The suppressions of a PostgreSQL list: keyed hashes, under its own key and the keys of lists that were copied to it.
 *
 * Hashes and keys are read in hexadecimal: Bun's client cannot read the format of `bytea_output = escape`.
 */

import { randomBytes } from 'node:crypto'
import type { SQL } from 'bun'
import { type Address, toIdentity } from '../../email.ts'
import type { Suppression } from '../../subscriber.ts'
import { createKeyedHash, toHex } from '../suppression-hash.ts'

/** The id of the list's own key in `suppression_keys`. The first removal creates the key. */
const OWN_KEY = 1

/** A key with its hash function. */
export interface SuppressionKey {
  readonly id: number
  readonly hash: (address: Address) => string
}

/** Reads the keys. While the caller holds the lock, they do not change. */
export async function readKeys(sql: SQL): Promise<readonly SuppressionKey[]> {
  const rows = await sql<{ id: number; key: string }[]>`
    SELECT key_number AS id, encode(key, 'hex') AS key FROM rollcall.suppression_keys ORDER BY key_number`
  return rows.map(({ id, key }) => ({ id, hash: createKeyedHash(Buffer.from(key, 'hex')) }))
}

/** Computes the hashes of addresses under each key, as a `bytea[]`: all under the first key, then all under the second. */
export function toHashes(sql: SQL, keys: readonly SuppressionKey[], addresses: readonly Address[]) {
  const hashes = keys.flatMap(({ hash }) => addresses.map((address) => Buffer.from(hash(address), 'hex')))
  return sql.array(hashes, 'BYTEA')
}

/** Finds the latest dates of the addresses that are suppressed, under any key, by the index of the address. */
export async function findSuppressed(sql: SQL, addresses: readonly Address[]): Promise<ReadonlyMap<number, Date>> {
  const keys = await readKeys(sql)
  if (keys.length === 0) return new Map()
  const rows = await sql<{ index: number; latest: Date }[]>`
    SELECT ((position - 1) % ${addresses.length}::integer)::integer AS index, max(suppressed_at) AS latest
    FROM unnest(${toHashes(sql, keys, addresses)}::bytea[]) WITH ORDINALITY AS given (hash, position)
    JOIN rollcall.suppressions USING (hash) GROUP BY 1`
  return new Map(rows.map(({ index, latest }) => [index, latest]))
}

/**
 * Suppresses addresses that are not suppressed yet, under the list's own key. The caller must hold the lock.
 *
 * The date of now is the start of the transaction. An address that is accepted too late for this transaction has a later
 * date, so a copy keeps it.
 *
 * @param options.removed the dates of their subscriptions, by identity: the clock may have been set back since
 * @param options.dates in milliseconds since 1970, in the order of the addresses; null and missing ones are now
 */
export async function suppress(
  sql: SQL,
  addresses: readonly Address[],
  { removed, dates = [] }: { removed: ReadonlyMap<string, Date>; dates?: readonly (number | null)[] },
): Promise<void> {
  if (addresses.length === 0) return
  await sql`
    INSERT INTO rollcall.suppression_keys VALUES (${OWN_KEY}::integer, ${randomBytes(32)}::bytea)
    ON CONFLICT (key_number) DO NOTHING`
  const ownKey = (await readKeys(sql)).filter(({ id }) => id === OWN_KEY)
  const subscribed = addresses.map((address) => removed.get(toIdentity(address))?.getTime() ?? null)
  await sql`
    INSERT INTO rollcall.suppressions
    SELECT hash, ${OWN_KEY}::integer,
           greatest(coalesce(to_timestamp(milliseconds / 1000), date_trunc('milliseconds', now())),
                    to_timestamp(subscribed / 1000))
    FROM unnest(${toHashes(sql, ownKey, addresses)}::bytea[], ${sql.array([...dates], 'DOUBLE PRECISION')}::float8[],
                ${sql.array(subscribed, 'DOUBLE PRECISION')}::float8[])
      AS given (hash, milliseconds, subscribed)`
}

/**
 * Gives suppressed addresses a later date, under every key. The caller must hold the lock.
 *
 * @param dates in milliseconds since 1970, in the order of the addresses; missing ones are now
 */
export async function renewSuppressions(
  sql: SQL,
  addresses: readonly Address[],
  dates: readonly number[] = [],
): Promise<void> {
  if (addresses.length === 0) return
  const keys = await readKeys(sql)
  const repeated = keys.flatMap(() => dates)
  await sql`
    WITH given AS MATERIALIZED (  -- so that Citus does not ask each node for its own time
      SELECT hash, coalesce(to_timestamp(milliseconds / 1000), date_trunc('milliseconds', now())) AS latest
      FROM unnest(${toHashes(sql, keys, addresses)}::bytea[], ${sql.array(repeated, 'DOUBLE PRECISION')}::float8[])
        AS given (hash, milliseconds)
    )
    UPDATE rollcall.suppressions s SET suppressed_at = greatest(s.suppressed_at, latest)
    FROM given WHERE s.hash = given.hash`
}

/** Deletes the suppressions of addresses, under every key. The caller must hold the lock. */
export async function deleteSuppressions(sql: SQL, addresses: readonly Address[]): Promise<void> {
  const hashes = toHashes(sql, await readKeys(sql), addresses)
  await sql`DELETE FROM rollcall.suppressions WHERE hash = ANY (${hashes}::bytea[])`
}

/** Returns the suppressions of another list that this list does not have, or has with an earlier date. */
export async function filterNew(sql: SQL, suppressions: readonly Suppression[]): Promise<readonly Suppression[]> {
  const { keys, hashes, dates } = toColumns(sql, suppressions)
  const rows = await sql<{ index: number }[]>`
    SELECT (position - 1)::integer AS index
    FROM unnest(${keys}::bytea[], ${hashes}::bytea[], ${dates}::float8[])
      WITH ORDINALITY AS given (key, hash, milliseconds, position)
    JOIN rollcall.suppression_keys k USING (key)
    JOIN rollcall.suppressions s
      ON s.hash = given.hash AND s.key_id = k.key_number AND s.suppressed_at >= to_timestamp(milliseconds / 1000)`
  const known = new Set(rows.map(({ index }) => index))
  return suppressions.filter((_, index) => !known.has(index))
}

/** Adds suppressions of another list, with their keys. Of two dates the later one stays. The caller must hold the lock. */
export async function insertSuppressions(sql: SQL, suppressions: readonly Suppression[]): Promise<void> {
  if (suppressions.length === 0) return
  for (const key of new Set(suppressions.map((suppression) => toHex(suppression.key)))) {
    await sql`
      INSERT INTO rollcall.suppression_keys
      SELECT greatest(max(key_number), ${OWN_KEY}::integer) + 1, ${Buffer.from(key, 'hex')}::bytea
      FROM rollcall.suppression_keys
      ON CONFLICT (key) DO NOTHING`
  }
  const { keys, hashes, dates } = toColumns(sql, suppressions)
  await sql`
    INSERT INTO rollcall.suppressions AS s
    SELECT given.hash, k.key_number, to_timestamp(milliseconds / 1000)
    FROM unnest(${keys}::bytea[], ${hashes}::bytea[], ${dates}::float8[]) AS given (key, hash, milliseconds)
    JOIN rollcall.suppression_keys k USING (key)
    ON CONFLICT (hash, key_id) DO UPDATE SET suppressed_at = greatest(s.suppressed_at, excluded.suppressed_at)`
}

/** A suppression with the id that its key has in this list. */
export interface SuppressionRow extends Suppression {
  readonly keyId: number
}

/** Reads at most `limit` suppressions after one that was read before. */
export async function readSuppressions(
  sql: SQL,
  after: SuppressionRow | undefined,
  limit: number,
): Promise<readonly SuppressionRow[]> {
  const rows = await sql<{ hash: string; key: string; keyId: number; suppressedAt: Date }[]>`
    SELECT encode(hash, 'hex') AS hash, encode(key, 'hex') AS key, key_id AS "keyId", suppressed_at AS "suppressedAt"
    FROM rollcall.suppressions JOIN rollcall.suppression_keys ON key_number = key_id
    WHERE (hash, key_id) > (${Buffer.from(after?.hash ?? [])}::bytea, ${after?.keyId ?? 0}::integer)
    ORDER BY suppressions.hash, key_id LIMIT ${limit}`
  return rows.map(({ hash, key, ...row }) => ({ ...row, hash: Buffer.from(hash, 'hex'), key: Buffer.from(key, 'hex') }))
}

function toColumns(sql: SQL, suppressions: readonly Suppression[]) {
  const keys = suppressions.map(({ key }) => Buffer.from(key))
  const hashes = suppressions.map(({ hash }) => Buffer.from(hash))
  const dates = suppressions.map(({ suppressedAt }) => suppressedAt.getTime())
  return {
    keys: sql.array(keys, 'BYTEA'),
    hashes: sql.array(hashes, 'BYTEA'),
    dates: sql.array(dates, 'DOUBLE PRECISION'),
  }
}
