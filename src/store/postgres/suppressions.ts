/** What a PostgreSQL list remembers of removed addresses: keyed hashes, under its own key and those of the lists copied to it. */

import { randomBytes } from 'node:crypto'
import type { SQL } from 'bun'
import type { Address } from '../../email.ts'
import type { Suppression } from '../../subscriber.ts'
import { createKeyedHash, toHex } from '../suppression-hash.ts'

/** The key of the list itself in `removal_keys`; it is made when the first address is removed. */
const OWN_KEY = 1

/** A key, ready to hash. */
export interface SuppressionKey {
  readonly id: number
  readonly hash: (address: Address) => string
}

/** Reads the keys; under the lock they stay as they are. */
export async function readKeys(sql: SQL): Promise<readonly SuppressionKey[]> {
  const rows = await sql<{ id: number; key: Buffer }[]>`SELECT id, key FROM rollcall.removal_keys ORDER BY id`
  return rows.map(({ id, key }) => ({ id, hash: createKeyedHash(key) }))
}

/** Computes the hashes of addresses under all keys: all of the first key, then all of the second. */
export function toHashes(sql: SQL, keys: readonly SuppressionKey[], addresses: readonly Address[]) {
  return toByteArray(
    sql,
    keys.flatMap(({ hash }) => addresses.map(hash)),
  )
}

/** Hands bytes, given in hexadecimal, to a `bytea[]`. */
export function toByteArray(sql: SQL, hex: readonly string[]) {
  return sql.array(
    hex.map((text) => Buffer.from(text, 'hex')),
    'BYTEA',
  )
}

/** Finds the indexes of those addresses that are remembered, under whichever key. */
export async function findSuppressed(sql: SQL, addresses: readonly Address[]): Promise<ReadonlySet<number>> {
  const keys = await readKeys(sql)
  if (keys.length === 0) return new Set()
  const rows = await sql<{ index: number }[]>`
    SELECT ((position - 1) % ${addresses.length}::integer)::integer AS index
    FROM unnest(${toHashes(sql, keys, addresses)}::bytea[]) WITH ORDINALITY AS asked (hash, position)
    JOIN rollcall.removed USING (hash)`
  return new Set(rows.map(({ index }) => index))
}

/** Remembers addresses, under the list's own key. Needs the lock. */
export async function insertSuppressed(sql: SQL, addresses: readonly Address[]): Promise<void> {
  if (addresses.length === 0) return
  await addKey(sql, OWN_KEY, randomBytes(32))
  const own = (await readKeys(sql)).filter(({ id }) => id === OWN_KEY)
  await sql`
    INSERT INTO rollcall.removed
    SELECT hash, ${OWN_KEY}::integer, date_trunc('milliseconds', clock_timestamp())
    FROM unnest(${toHashes(sql, own, addresses)}::bytea[]) AS gone (hash)
    ON CONFLICT DO NOTHING`
}

/** Forgets addresses, under every key. Needs the lock. */
export async function liftSuppressions(sql: SQL, addresses: readonly Address[]): Promise<void> {
  const hashes = toHashes(sql, await readKeys(sql), addresses)
  await sql`DELETE FROM rollcall.removed WHERE hash = ANY (${hashes}::bytea[])`
}

/** Those of another list's suppressions that are not remembered here. */
export async function filterNew(
  sql: SQL,
  suppressions: readonly Suppression[],
): Promise<readonly Suppression[]> {
  const { keys, hashes } = toColumns(sql, suppressions)
  const rows = await sql<{ position: number }[]>`
    SELECT position::integer
    FROM unnest(${keys}::bytea[], ${hashes}::bytea[]) WITH ORDINALITY AS given (key, hash, position)
    JOIN rollcall.removal_keys k USING (key) JOIN rollcall.removed r ON r.hash = given.hash AND key_id = k.id`
  const known = new Set(rows.map(({ position }) => position - 1))
  return suppressions.filter((_, index) => !known.has(index))
}

/** Remembers suppressions of another list, and its keys with them. Needs the lock. */
export async function insertSuppressions(sql: SQL, suppressions: readonly Suppression[]): Promise<void> {
  if (suppressions.length === 0) return
  for (const key of new Set(suppressions.map((suppression) => toHex(suppression.key)))) {
    const [row] = await sql<{ id: number }[]>`
      SELECT greatest(max(id), ${OWN_KEY}::integer) + 1 AS id FROM rollcall.removal_keys`
    await addKey(sql, row?.id ?? OWN_KEY + 1, Buffer.from(key, 'hex'))
  }
  const { keys, hashes } = toColumns(sql, suppressions)
  const dates = sql.array(
    suppressions.map(({ suppressedAt }) => suppressedAt.getTime()),
    'DOUBLE PRECISION',
  )
  await sql`
    INSERT INTO rollcall.removed
    SELECT given.hash, k.id, to_timestamp(milliseconds / 1000)
    FROM unnest(${keys}::bytea[], ${hashes}::bytea[], ${dates}::float8[]) AS given (key, hash, milliseconds)
    JOIN rollcall.removal_keys k USING (key)
    ON CONFLICT DO NOTHING`
}

/** A suppression, with the id that its key has here. */
export interface SuppressionRow extends Suppression {
  readonly keyId: number
}

/** A page of what is remembered, behind one that was given before. */
export async function readSuppressions(
  sql: SQL,
  after: SuppressionRow | undefined,
  limit: number,
): Promise<readonly SuppressionRow[]> {
  return await sql<SuppressionRow[]>`
    SELECT hash, key_id AS "keyId", removed_at AS "suppressedAt", key
    FROM rollcall.removed JOIN rollcall.removal_keys k ON k.id = key_id
    WHERE (hash, key_id) > (${Buffer.from(after?.hash ?? [])}::bytea, ${after?.keyId ?? 0}::integer)
    ORDER BY hash, key_id LIMIT ${limit}`
}

/** Adds a key, unless it or its id is there. */
async function addKey(sql: SQL, id: number, key: Buffer): Promise<void> {
  await sql`INSERT INTO rollcall.removal_keys VALUES (${id}::integer, ${key}::bytea) ON CONFLICT DO NOTHING`
  await sql`UPDATE rollcall.list SET removal_keys = (SELECT count(*) FROM rollcall.removal_keys)
            WHERE removal_keys <> (SELECT count(*) FROM rollcall.removal_keys)`
}

function toColumns(sql: SQL, suppressions: readonly Suppression[]) {
  return {
    keys: toByteArray(
      sql,
      suppressions.map(({ key }) => toHex(key)),
    ),
    hashes: toByteArray(
      sql,
      suppressions.map(({ hash }) => toHex(hash)),
    ),
  }
}
