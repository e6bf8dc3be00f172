import type { Database } from 'bun:sqlite'
import { type Address, toIdentity } from '../../email.ts'
import { createHalfSipHash } from './half-sip-hash.ts'
import { getRow } from './row.ts'

/** Returns 32 bits of the identity of an address. */
export type IdentityHash = (address: Address) => number

/**
 * Creates the hash by which a list finds an address. Its key is random for each list and secret, so nobody can prepare
 * addresses with equal hashes.
 */
export function createIdentityHash(db: Database): IdentityHash {
  const { key } = getRow(db.query<{ key: Uint8Array }, []>('SELECT key FROM identity_key'))
  const hashOf = createHalfSipHash(key)
  return (address) => hashOf(toIdentity(address))
}
