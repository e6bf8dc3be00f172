/** The suppressions of a SQLite list: keyed hashes, under its own key and under those of the lists copied to it. */

import type { Database } from 'bun:sqlite'
import type { Address } from '../../email.ts'
import type { Suppression } from '../../subscriber.ts'
import { createKeyedHash, toHex } from '../suppression-hash.ts'
import { getRow } from './row.ts'

/** The id of the list's own key. */
const OWN_KEY = 1

/** The end of an INSERT: of two dates of a suppression, the later one stays. */
const LATER_DATE = 'ON CONFLICT DO UPDATE SET suppressed_at = max(suppressed_at, excluded.suppressed_at)'

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

    /** Returns the latest dates of the suppressed addresses, under any key, by the index of the address. */
    find(addresses: readonly Address[]): ReadonlyMap<number, Date> {
      if (isEmpty()) return new Map()
      return new Map(statements.find.all(toEntries(addresses)).map(({ index, latest }) => [index, new Date(latest)]))
    },

    /** Counts the suppressions of addresses, under every key. */
    count(addresses: readonly Address[]): number {
      if (isEmpty()) return 0
      return getRow(statements.count, toEntries(addresses)).count
    },

    /** Adds addresses with their dates, in milliseconds since 1970, under the list's own key. */
    add(entries: readonly (readonly [Address, number])[]): void {
      const hashOf = createKeyedHash(getRow(statements.ownKey).key)
      // In the order of the hashes, each page is written once.
      const rows = entries.map(([address, date]): [string, number] => [hashOf(address), date])
      statements.add.run(JSON.stringify(rows.sort(([one], [other]) => (one < other ? -1 : 1))))
    },

    /** Gives addresses a later date, under every key. */
    renew: (addresses: readonly Address[], suppressedAt: number): void =>
      void statements.renew.run(toEntries(addresses), suppressedAt),

    /** Deletes addresses, under every key. */
    delete: (addresses: readonly Address[]): void => void statements.delete.run(toEntries(addresses)),

    /** Returns the suppressions of another list that this one does not have, or has with an earlier date. */
    filterNew(suppressions: readonly Suppression[]): readonly Suppression[] {
      const known = new Set(statements.known.all(toJson(suppressions)).map(({ index }) => index))
      return suppressions.filter((_, index) => !known.has(index))
    },

    /** Adds suppressions of another list, with their keys. Of two dates the later one stays. */
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
    find: db.query<{ index: number; latest: number }, [entries: string]>(
      `SELECT e.value ->> 2 AS "index", max(s.suppressed_at) AS latest FROM json_each(?1) e CROSS JOIN suppressions s
       ON s.hash = unhex(e.value ->> 1) AND s.key_id = e.value ->> 0 GROUP BY 1`,
    ),
    count: db.query<{ count: number }, [entries: string]>(
      `SELECT count(*) AS count FROM json_each(?1) e CROSS JOIN suppressions s
       ON s.hash = unhex(e.value ->> 1) AND s.key_id = e.value ->> 0`,
    ),
    add: db.query<never, [entries: string]>(
      `INSERT INTO suppressions SELECT unhex(value ->> 0), ${OWN_KEY}, value ->> 1 FROM json_each(?1) WHERE true
       ${LATER_DATE}`,
    ),
    renew: db.query<never, [entries: string, suppressedAt: number]>(
      `UPDATE suppressions SET suppressed_at = max(suppressed_at, ?2) WHERE (hash, key_id) IN
       (SELECT unhex(value ->> 1), value ->> 0 FROM json_each(?1))`,
    ),
    delete: db.query<never, [entries: string]>(
      `DELETE FROM suppressions WHERE (hash, key_id) IN
       (SELECT unhex(value ->> 1), value ->> 0 FROM json_each(?1))`,
    ),
    known: db.query<{ index: number }, [suppressions: string]>(
      `SELECT e.key AS "index" FROM json_each(?1) e
       CROSS JOIN suppression_keys k ON k.key = unhex(e.value ->> 0)
       CROSS JOIN suppressions s ON s.hash = unhex(e.value ->> 1) AND s.key_id = k.id
       WHERE s.suppressed_at >= e.value ->> 2`,
    ),
    mergeKeys: db.query<never, [suppressions: string]>(
      'INSERT OR IGNORE INTO suppression_keys (key) SELECT DISTINCT unhex(value ->> 0) FROM json_each(?1)',
    ),
    merge: db.query<never, [suppressions: string]>(
      // Without WHERE, the parser takes ON CONFLICT for a part of the join.
      `INSERT INTO suppressions SELECT unhex(e.value ->> 1), k.id, e.value ->> 2
       FROM json_each(?1) e CROSS JOIN suppression_keys k ON k.key = unhex(e.value ->> 0) WHERE true
       ${LATER_DATE}`,
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
