import type { Address } from '../../email.ts'
import { createBuckets } from './buckets.ts'
import type { prepareCompaction, Run } from './compaction-statements.ts'
import type { IdentityHash } from './identity-hash.ts'

/** An address in the inbox. Imported ones have their own date, in milliseconds since 1970. */
export type InboxAddress = Address | readonly [email: Address, subscribedAt: number]

interface ScanParts {
  readonly statements: Pick<ReturnType<typeof prepareCompaction>, 'row'>
  readonly hashOf: IdentityHash
}

export type InboxScan = ReturnType<typeof createInboxScan>

/** Reads the hashes of all addresses of a run, and sorts them. */
export function createInboxScan({ start, end }: Run, { statements, hashOf }: ScanParts) {
  const buckets = createBuckets()
  let next = start

  const isOf = (run: Run) => run.start === start && run.end === end

  function readRow(): void {
    const row = statements.row.get(next)
    if (!row || row.seq >= end) {
      // Another process has moved the rest of the run.
      next = end
      return
    }
    const batch: InboxAddress[] = JSON.parse(row.addresses)
    batch.forEach((item, index) => {
      buckets.add(hashOf(typeof item === 'string' ? item : item[0]), row.seq + index - start)
    })
    next = row.seq + batch.length
  }

  return {
    isOf,

    /** Whether it has all of this run. */
    isReady: (run: Run) => isOf(run) && next >= end,

    after: buckets.after,

    /** Reads for about this many milliseconds, at least a row. Returns false when there was nothing left to read. */
    read(milliseconds: number): boolean {
      if (next >= end) return false
      const stop = performance.now() + milliseconds
      do readRow()
      while (next < end && performance.now() < stop)
      return true
    },
  }
}
