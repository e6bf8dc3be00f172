/** The thread that checks a SQLite list and copies it. */

import type { Result } from '../../email.ts'
import { StoreError } from '../../subscriber.ts'
import { type CopyRequest, copyInto, type ListSummary, readSummary } from './backup.ts'
import { toReason } from './error.ts'
import { openReadOnly } from './file.ts'
import { toRealPath } from './paths.ts'
import { checkIntegrity } from './read.ts'

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<CopyRequest>) => self.postMessage(run(data))

function run({ source, target, ...options }: CopyRequest): Result<ListSummary, string> {
  try {
    using db = openReadOnly(toRealPath(source))
    // A damaged list could become a sound copy with fewer addresses.
    db.transaction(checkIntegrity)(db)
    return { ok: true, value: target === undefined ? readSummary(db) : copyInto(db, target, options) }
  } catch (error) {
    if (error instanceof StoreError) return { ok: false, reason: error.message }
    return { ok: false, reason: `${source} cannot be copied: ${toReason(error)}` }
  }
}
