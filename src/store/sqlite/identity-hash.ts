import type { Database } from 'bun:sqlite'
import { type Address, toIdentity } from '../../email.ts'
import { getRow } from './row.ts'

/**
 * Creates the hash by which `identities` finds an address: 32 bits of its identity. Hashes are not unique, so the
 * caller compares the identities as text. The seed is random for each file. It does not keep an attacker from preparing
 * equal hashes: some texts collide under nearly every seed of xxHash32.
 */
export function createIdentityHash(db: Database): (address: Address) => number {
  const { hash: seed } = getRow(db.query<{ hash: number }, []>('SELECT hash FROM seed'))
  return (address) => Bun.hash.xxHash32(toIdentity(address), seed)
}
