/** The thread that checks and reads a list for `restore`. */

import type { Result } from '../../result.ts'
import { StoreError, type StoreStatus } from '../../subscriber.ts'
import { toReason } from './error.ts'
import { checkClosed, checkComplete, checkIntegrity } from './integrity.ts'
import { openSqliteStore } from './store.ts'

/** What a list holds, for the owner to recognize it. */
export type Content = Omit<StoreStatus, 'days' | 'bytes'>

export interface ContentRequest {
  /** The list, by its absolute path. It is compacted, and migrated if it is older. */
  readonly file: string
  /** The file of which it is a copy. Then every page is checked first, and the errors name this file. */
  readonly original?: string
}

declare const self: Worker

self.onmessage = async ({ data }: MessageEvent<ContentRequest>) => {
  self.postMessage(await read(data))
}

async function read({ file, original }: ContentRequest): Promise<Result<Content, string>> {
  const name = original ?? file
  try {
    if (original !== undefined) checkIntegrity(file, original)
    const content = await readContent(file)
    if (original !== undefined) {
      checkClosed(file)
      checkComplete(file)
    }
    return { ok: true, value: content }
  } catch (error) {
    const isOurs = error instanceof StoreError
    const reason = isOurs ? error.message.replaceAll(file, name) : `${name} cannot be read: ${toReason(error)}`
    return { ok: false, reason }
  }
}

async function readContent(file: string): Promise<Content> {
  const store = openSqliteStore(file, { create: false })
  try {
    const { subscribers, reserved, suppressed, lastAcceptedAt } = await store.status(1)
    return { subscribers, reserved, suppressed, lastAcceptedAt }
  } finally {
    await store.close()
  }
}
