/** What a SQLite list remembers of removed addresses: keyed hashes, under its own key and those of the lists copied to it. */

import type { Database } from 'bun:sqlite'
import type { Address } from '../../email.ts'
import type { Suppression } from '../../subscriber.ts'
import { createKeyedHash, toHex } from '../suppression-hash.ts'

/** The key of the list itself in `removal_keys`. */
const OWN_KEY = 1

/** Works inside the transaction of its caller. */
export interface Suppressions {
  isEmpty(): boolean
  /** The indexes of those addresses that are remembered, under whichever key. */
  find(addresses: readonly Address[]): ReadonlySet<number>
  /** Remembers addresses, under the list's own key; one that is remembered so already keeps its date. */
  keep(addresses: readonly Address[], suppressedAt: number): void
  /** Forgets addresses, under every key. */
  drop(addresses: readonly Address[]): void
  /** Those of another list's suppressions that are not remembered here. */
  filterNew(suppressions: readonly Suppression[]): readonly Suppression[]
  /** Remembers suppressions of another list, and its keys with them. */
  mergeSuppressions(suppressions: readonly Suppression[]): void
  /** A page of what is remembered, behind one that was given before. */
  page(after: SuppressionRow | undefined, limit: number): readonly SuppressionRow[]
}

/** A suppression, with the id that its key has here. */
export interface SuppressionRow extends Suppression {
  readonly keyId: number
}

/** Prepares the suppressions of an open file. */
export function createSuppressions(db: Database): Suppressions {
  const statements = prepare(db)

  /** A JSON array of [id of the key, hash, index of the address], for all keys that the list has now. */
  function toEntries(addresses: readonly Address[]): string {
    const keys = statements.keys.values() as [id: number, key: Uint8Array][]
    return JSON.stringify(
      keys.flatMap(([id, key]) => {
        const hash = createKeyedHash(key)
        return addresses.map((address, index) => [id, hash(address), index])
      }),
    )
  }

  const toJson = (suppressions: readonly Suppression[]) =>
    JSON.stringify(
      suppressions.map(({ key, hash, suppressedAt }) => [toHex(key), toHex(hash), suppressedAt.getTime()]),
    )

  return {
    isEmpty: () => statements.first.get() === null,
    find: (addresses) =>
      new Set(statements.find.values(toEntries(addresses)).map(([index]) => Number(index))),
    keep(addresses, suppressedAt) {
      const { key } = statements.ownKey.get() as { key: Uint8Array }
      statements.keep.run(JSON.stringify(addresses.map(createKeyedHash(key))), suppressedAt)
    },
    drop: (addresses) => void statements.drop.run(toEntries(addresses)),
    filterNew(suppressions) {
      const known = new Set(statements.known.values(toJson(suppressions)).map(([index]) => index))
      return suppressions.filter((_, index) => !known.has(index))
    },
    mergeSuppressions(suppressions) {
      const json = toJson(suppressions)
      statements.addKeys.run(json)
      statements.mergeSuppressions.run(json)
    },
    page(after, limit) {
      const rows = statements.page.values(after?.hash ?? new Uint8Array(), after?.keyId ?? 0, limit) as [
        hash: Uint8Array,
        keyId: number,
        suppressedAt: number,
        key: Uint8Array,
      ][]
      return rows.map(([hash, keyId, at, key]) => ({ hash, keyId, key, suppressedAt: new Date(at) }))
    },
  }
}

// CROSS JOIN fixes the order of the loops: what is asked outside, the table inside.
function prepare(db: Database) {
  return {
    first: db.query('SELECT 1 FROM removed LIMIT 1'),
    keys: db.query('SELECT id, key FROM removal_keys ORDER BY id'),
    ownKey: db.query(`SELECT key FROM removal_keys WHERE id = ${OWN_KEY}`),
    find: db.query(
      `SELECT e.value ->> 2 FROM json_each(?1) e CROSS JOIN removed r
       ON r.hash = unhex(e.value ->> 1) AND r.key_id = e.value ->> 0`,
    ),
    keep: db.query(`INSERT OR IGNORE INTO removed SELECT unhex(value), ${OWN_KEY}, ?2 FROM json_each(?1)`),
    drop: db.query(
      `DELETE FROM removed WHERE (hash, key_id) IN
       (SELECT unhex(value ->> 1), value ->> 0 FROM json_each(?1))`,
    ),
    known: db.query(
      `SELECT e.key FROM json_each(?1) e CROSS JOIN removal_keys k ON k.key = unhex(e.value ->> 0)
       CROSS JOIN removed r ON r.hash = unhex(e.value ->> 1) AND r.key_id = k.id`,
    ),
    addKeys: db.query(
      'INSERT OR IGNORE INTO removal_keys (key) SELECT DISTINCT unhex(value ->> 0) FROM json_each(?1)',
    ),
    mergeSuppressions: db.query(
      `INSERT OR IGNORE INTO removed SELECT unhex(e.value ->> 1), k.id, e.value ->> 2
       FROM json_each(?1) e CROSS JOIN removal_keys k ON k.key = unhex(e.value ->> 0)`,
    ),
    page: db.query(
      `SELECT r.hash, r.key_id, r.removed_at, k.key FROM removed r JOIN removal_keys k ON k.id = r.key_id
       WHERE (r.hash, r.key_id) > (?1, ?2) ORDER BY r.hash, r.key_id LIMIT ?3`,
    ),
  }
}
