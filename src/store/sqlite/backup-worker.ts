/** The thread that checks a SQLite list and copies it. */

import type { Result } from '../../email.ts'
import { StoreError } from '../../subscriber.ts'
import { type CopyRequest, copyInto, type ListSummary, readSummary } from './backup.ts'
import { toReason } from './error.ts'
import { toRealPath } from './paths.ts'
import { checkIntegrity, checkPages } from './read.ts'
import { openReadOnly } from './read-only.ts'
import { checkVersion, SCHEMA_VERSION } from './schema.ts'

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<CopyRequest>) => self.postMessage(run(data))

function run({ source, target, ...options }: CopyRequest): Result<ListSummary, string> {
  try {
    // `copyInto` migrates its copy. A mere check has none, and migrates one in memory.
    using db = openReadOnly(toRealPath(source), target === undefined ? 'copy' : 'keep')
    // A damaged list could become a sound copy with fewer addresses. The tables of an older one are checked in the copy.
    const isPresent = checkVersion(db, source) === SCHEMA_VERSION
    db.transaction(isPresent ? checkIntegrity : checkPages)(db)
    return { ok: true, value: target === undefined ? readSummary(db) : copyInto(db, target, options) }
  } catch (error) {
    if (error instanceof StoreError) return { ok: false, reason: error.message }
    return { ok: false, reason: `${source} cannot be copied: ${toReason(error)}` }
  }
}
