/**
 * The index of a list, which finds a subscriber by the identity of an address. The table `identity_hashes` has one
 * subscriber for each hash. Others with the same hash are in `collisions`, by their identity as text. So a search reads
 * at most two subscribers, however many hashes are equal.
 */

import type { Database } from 'bun:sqlite'
import { type Address, toIdentity } from '../../email.ts'
import type { Subscriber } from '../../subscriber.ts'
import { toEntry, toHash, toPosition } from './buckets.ts'
import type { IdentityHash } from './identity-hash.ts'
import { type SubscriberRow, toSubscriber } from './row.ts'

export type IdentityIndex = ReturnType<typeof createIdentityIndex>

export function createIdentityIndex(db: Database, hashOf: IdentityHash) {
  const statements = prepare(db)

  return {
    /** Returns the subscribers by the index of their address. */
    find(addresses: readonly Address[]): ReadonlyMap<number, Subscriber> {
      const found = new Map<number, Subscriber>()
      const others: [hash: number, identity: string, index: number][] = []
      // In the order of the hashes, a search reads each page of the index once.
      const entries = Float64Array.from(addresses, (address, index) => toEntry(hashOf(address), index)).sort()
      for (const row of statements.find.all(`[${entries.map(toHash).join()}]`)) {
        const entry = entries[row.key] ?? 0
        const [hash, index] = [toHash(entry), toPosition(entry)]
        const address = addresses[index]
        if (address === undefined) continue
        const identity = toIdentity(address)
        if (identity === toIdentity(row.email)) found.set(index, toSubscriber(row))
        else others.push([hash, identity, index])
      }
      if (others.length === 0) return found
      for (const { index, ...row } of statements.findOthers.all(JSON.stringify(others))) {
        found.set(index, toSubscriber(row))
      }
      return found
    },

    /** Deletes a subscriber from the index, in the transaction of the caller. */
    delete({ email }: Subscriber): void {
      const [hash, identity] = [hashOf(email), toIdentity(email)]
      const other = statements.firstCollision.get(hash)
      if (!other) return void statements.deleteHash.run(hash)
      const { changes } = statements.deleteCollision.run(hash, identity)
      if (changes > 0) return
      statements.setSeq.run(hash, other.seq)
      statements.deleteCollision.run(hash, other.identity)
    },
  }
}

// CROSS JOIN fixes the order of the loops: the JSON array outside, the tables inside.
function prepare(db: Database) {
  const subscriber = 's.seq, s.email, s.subscribed_at AS subscribedAt'
  return {
    find: db.query<SubscriberRow & { key: number }, [hashes: string]>(
      `SELECT e.key, ${subscriber} FROM json_each(?1) e
       CROSS JOIN identity_hashes i ON i.hash = e.value CROSS JOIN subscribers s ON s.seq = i.seq`,
    ),
    // Looks in both tables at one moment, because a removal moves a collision to `identity_hashes`.
    findOthers: db.query<SubscriberRow & { index: number }, [others: string]>(
      `SELECT e.value ->> 2 AS "index", ${subscriber} FROM json_each(?1) e CROSS JOIN subscribers s ON s.seq IN (
         SELECT seq FROM collisions WHERE hash = e.value ->> 0 AND identity = e.value ->> 1
         UNION ALL SELECT seq FROM identity_hashes WHERE hash = e.value ->> 0)
       WHERE lower(s.email) = e.value ->> 1`,
    ),
    firstCollision: db.query<{ identity: string; seq: number }, [hash: number]>(
      'SELECT identity, seq FROM collisions WHERE hash = ?1 LIMIT 1',
    ),
    deleteCollision: db.query<never, [hash: number, identity: string]>(
      'DELETE FROM collisions WHERE hash = ?1 AND identity = ?2',
    ),
    setSeq: db.query<never, [hash: number, seq: number]>('UPDATE identity_hashes SET seq = ?2 WHERE hash = ?1'),
    deleteHash: db.query<never, [hash: number]>('DELETE FROM identity_hashes WHERE hash = ?1'),
  }
}
