/** The suppressions of a SQLite list: keyed hashes, under its own key and under those of the lists copied to it. */

import type { Database } from 'bun:sqlite'
import type { Address } from '../../email.ts'
import type { Suppression } from '../../subscriber.ts'
import { createKeyedHash, toHex } from '../suppression-hash.ts'
import { getRow } from './row.ts'

/** The id of the list's own key. */
const OWN_KEY = 1

export type Suppressions = ReturnType<typeof createSuppressions>

/** Creates the access to the suppressions. Every method works inside the transaction of its caller. */
export function createSuppressions(db: Database) {
  const statements = prepare(db)

  /** A JSON array of [id of the key, hash, index of the address], for every key and every address. */
  function toEntries(addresses: readonly Address[]): string {
    // Read each time: another process may add a key.
    const entries = statements.keys.all().flatMap(({ id, key }) => {
      const hashOf = createKeyedHash(key)
      return addresses.map((address, index) => [id, hashOf(address), index])
    })
    return JSON.stringify(entries)
  }

  const isEmpty = () => statements.first.get() === null

  return {
    isEmpty,

    /** Returns the indexes of the suppressed addresses, under any key. */
    find(addresses: readonly Address[]): ReadonlySet<number> {
      if (isEmpty()) return new Set()
      return new Set(statements.find.all(toEntries(addresses)).map(({ index }) => index))
    },

    /** Adds addresses under the list's own key. One that is there already keeps its date. */
    add(addresses: readonly Address[]): void {
      const hashes = addresses.map(createKeyedHash(getRow(statements.ownKey).key))
      statements.add.run(JSON.stringify(hashes), Date.now())
    },

    /** Deletes addresses, under every key. */
    delete: (addresses: readonly Address[]): void => void statements.delete.run(toEntries(addresses)),

    /** Returns the suppressions of another list that this one does not have. */
    filterNew(suppressions: readonly Suppression[]): readonly Suppression[] {
      const known = new Set(statements.known.all(toJson(suppressions)).map(({ index }) => index))
      return suppressions.filter((_, index) => !known.has(index))
    },

    /** Adds suppressions of another list, with their keys. */
    merge(suppressions: readonly Suppression[]): void {
      statements.mergeKeys.run(toJson(suppressions))
      statements.merge.run(toJson(suppressions))
    },

    /** Yields all suppressions in pages of a size. */
    *list(size: number): Generator<readonly Suppression[]> {
      let [hash, keyId] = [new Uint8Array(), 0]
      for (;;) {
        const rows = statements.page.all(hash, keyId, size)
        const last = rows.at(-1)
        if (!last) return
        yield rows.map(({ key, hash, suppressedAt }) => ({ key, hash, suppressedAt: new Date(suppressedAt) }))
        ;({ hash, keyId } = last)
      }
    },
  }
}

function toJson(suppressions: readonly Suppression[]): string {
  return JSON.stringify(
    suppressions.map(({ key, hash, suppressedAt }) => [toHex(key), toHex(hash), suppressedAt.getTime()]),
  )
}

// CROSS JOIN fixes the order of the loops: the JSON array outside, the table inside.
function prepare(db: Database) {
  return {
    first: db.query<unknown, []>('SELECT 1 FROM suppressions LIMIT 1'),
    keys: db.query<{ id: number; key: Uint8Array }, []>('SELECT id, key FROM suppression_keys ORDER BY id'),
    ownKey: db.query<{ key: Uint8Array }, []>(`SELECT key FROM suppression_keys WHERE id = ${OWN_KEY}`),
    find: db.query<{ index: number }, [entries: string]>(
      `SELECT e.value ->> 2 AS "index" FROM json_each(?1) e CROSS JOIN suppressions s
       ON s.hash = unhex(e.value ->> 1) AND s.key_id = e.value ->> 0`,
    ),
    add: db.query<never, [hashes: string, suppressedAt: number]>(
      `INSERT OR IGNORE INTO suppressions SELECT unhex(value), ${OWN_KEY}, ?2 FROM json_each(?1)`,
    ),
    delete: db.query<never, [entries: string]>(
      `DELETE FROM suppressions WHERE (hash, key_id) IN
       (SELECT unhex(value ->> 1), value ->> 0 FROM json_each(?1))`,
    ),
    known: db.query<{ index: number }, [suppressions: string]>(
      `SELECT e.key AS "index" FROM json_each(?1) e
       CROSS JOIN suppression_keys k ON k.key = unhex(e.value ->> 0)
       CROSS JOIN suppressions s ON s.hash = unhex(e.value ->> 1) AND s.key_id = k.id`,
    ),
    mergeKeys: db.query<never, [suppressions: string]>(
      'INSERT OR IGNORE INTO suppression_keys (key) SELECT DISTINCT unhex(value ->> 0) FROM json_each(?1)',
    ),
    merge: db.query<never, [suppressions: string]>(
      `INSERT OR IGNORE INTO suppressions SELECT unhex(e.value ->> 1), k.id, e.value ->> 2
       FROM json_each(?1) e CROSS JOIN suppression_keys k ON k.key = unhex(e.value ->> 0)`,
    ),
    page: db.query<
      { hash: Uint8Array<ArrayBuffer>; keyId: number; suppressedAt: number; key: Uint8Array },
      [hash: Uint8Array, keyId: number, limit: number]
    >(
      `SELECT s.hash, s.key_id AS keyId, s.suppressed_at AS suppressedAt, k.key
       FROM suppressions s JOIN suppression_keys k ON k.id = s.key_id
       WHERE (s.hash, s.key_id) > (?1, ?2) ORDER BY s.hash, s.key_id LIMIT ?3`,
    ),
  }
}
