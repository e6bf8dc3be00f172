/**
 * The index of a list, which finds a subscriber by the identity of an address. The table `identity_hashes` has one
 * subscriber for each hash. Others with the same hash are in `collisions`, by their identity as text. So a search reads
 * at most two subscribers, however many hashes are equal.
 */

import type { Database } from 'bun:sqlite'
import { type Address, toIdentity } from '../../email.ts'
import type { Subscriber } from '../../subscriber.ts'
import type { IdentityHash } from './identity-hash.ts'
import { type SubscriberRow, toSubscriber } from './row.ts'

export type IdentityIndex = ReturnType<typeof createIdentityIndex>

export function createIdentityIndex(db: Database, hashOf: IdentityHash) {
  const statements = prepare(db)

  function findAll(addresses: readonly Address[]): ReadonlyMap<number, Subscriber> {
    const found = new Map<number, Subscriber>()
    const others: [hash: number, identity: string, index: number][] = []
    const hashes = addresses.map(hashOf)
    for (const { index, ...row } of statements.find.all(JSON.stringify(hashes))) {
      const [address, hash] = [addresses[index], hashes[index]]
      if (address === undefined || hash === undefined) continue
      const identity = toIdentity(address)
      if (identity === toIdentity(row.email)) found.set(index, toSubscriber(row))
      else others.push([hash, identity, index])
    }
    if (others.length === 0) return found
    for (const { index, ...row } of statements.findCollisions.all(JSON.stringify(others))) {
      found.set(index, toSubscriber(row))
    }
    return found
  }

  return {
    /** Returns the subscribers by the index of their address. */
    // In a transaction, because a removal moves a collision to `identity_hashes`.
    find: (addresses: readonly Address[]) => db.transaction(() => findAll(addresses))(),

    /** Deletes a subscriber from the index, in the transaction of the caller. */
    delete({ email }: Subscriber): void {
      const hash = hashOf(email)
      const { changes } = statements.deleteCollision.run(hash, toIdentity(email))
      if (changes > 0) return
      const other = statements.firstCollision.get(hash)
      if (!other) return void statements.deleteHash.run(hash)
      statements.setSeq.run(hash, other.seq)
      statements.deleteCollision.run(hash, other.identity)
    },
  }
}

// CROSS JOIN fixes the order of the loops: the JSON array outside, the tables inside.
function prepare(db: Database) {
  const subscriber = 's.seq, s.email, s.subscribed_at AS subscribedAt'
  return {
    find: db.query<SubscriberRow & { index: number }, [hashes: string]>(
      `SELECT e.key AS "index", ${subscriber} FROM json_each(?1) e
       CROSS JOIN identity_hashes i ON i.hash = e.value CROSS JOIN subscribers s ON s.seq = i.seq`,
    ),
    findCollisions: db.query<SubscriberRow & { index: number }, [others: string]>(
      `SELECT e.value ->> 2 AS "index", ${subscriber} FROM json_each(?1) e
       CROSS JOIN collisions c ON c.hash = e.value ->> 0 AND c.identity = e.value ->> 1
       CROSS JOIN subscribers s ON s.seq = c.seq`,
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
