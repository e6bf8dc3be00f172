import type { Database } from 'bun:sqlite'
import { type Address, toIdentity } from '../../email.ts'
import { getRow } from './row.ts'

/**
 * Computes the hash by which `identities` finds an address: 32 bits of its identity. Hashes are not unique, so
 * whoever finds one compares the identities as text.
 *
 * The seed is random for each file: nobody can prepare addresses with equal hashes.
 */
export type IdentityHash = (address: Address) => number

/** Creates the hash of an open list. */
export function createIdentityHash(db: Database): IdentityHash {
  const { hash: seed } = getRow(db.query<{ hash: number }, []>('SELECT hash FROM seed'))
  return (address) => Bun.hash.xxHash32(toIdentity(address), seed)
}
