import type { Database } from 'bun:sqlite'
import type { Address } from '../../email.ts'
import { StoreError } from '../../subscriber.ts'
import { createIdentityHash } from './identity-hash.ts'
import { createIdentityIndex } from './identity-index.ts'
import { getRow } from './row.ts'

/** Subscribers in a page. Each page is a transaction, so a service is not kept from truncating its log. */
const PAGE_SIZE = 10_000

/**
 * Checks that the index finds each subscriber by its address, and has no other entries. Takes about two seconds for a
 * million addresses. Changes nothing.
 *
 * @returns the number of subscribers
 * @throws StoreError when the index and the list differ
 */
export function checkIndex(db: Database): number {
  const lost = countLost(db)
  if (lost > 0) throw new StoreError(`subscribers that are not found by their address: ${lost}; ${ADVICE}`)
  const { entries, subscribers } = getRow(
    // Compaction indexes addresses before it moves them from the inbox to the list.
    db.query<{ entries: number; subscribers: number }, []>(
      `SELECT (SELECT count(*) FROM subscribers) AS subscribers, (SELECT count(*) FROM collisions) +
              (SELECT count(*) FROM identity_hashes WHERE seq < (SELECT min(first_seq) FROM inbox)) AS entries`,
    ),
  )
  if (entries === subscribers) return subscribers
  throw new StoreError(`the index has ${entries} entries for ${subscribers} subscribers; ${ADVICE}`)
}

const ADVICE = 'write the list to a new file with "rollcall copy", which writes a new index, and use that file'

function countLost(db: Database): number {
  const index = createIdentityIndex(db, createIdentityHash(db))
  const page = db.query<{ seq: number; email: Address }, [after: number]>(
    `SELECT seq, email FROM subscribers WHERE seq > ?1 ORDER BY seq LIMIT ${PAGE_SIZE}`,
  )
  // A subscriber may be removed between two statements, but not within a transaction.
  const checkPage = db.transaction((after: number) => {
    const rows = page.all(after)
    const found = index.find(rows.map(({ email }) => email))
    const lost = rows.filter(({ seq }, position) => found.get(position)?.seq !== seq).length
    return { last: rows.at(-1)?.seq, lost }
  })
  let lost = 0
  for (let after: number | undefined = 0; after !== undefined; ) {
    const result: { last: number | undefined; lost: number } = checkPage(after)
    lost += result.lost
    after = result.last
  }
  return lost
}
