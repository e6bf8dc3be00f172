/** A batch of subscribers as one document, for a command that reads it. */

import type { SubscriberStore } from '../../subscriber.ts'
import type { Writer } from './formats.ts'
import { type SelectOptions, selectPages } from './selection.ts'
import { createUnnamedFile, type UnnamedFile } from './sink.ts'

export interface Batch {
  /** Where the next batch starts. */
  readonly cursor: number
  /** Number of subscribers. */
  readonly rows: number
  /** Number of addresses in reserved domains that are left out. */
  readonly reserved: number
  /** The `seq` of the first and of the last subscriber; 0 when there is none. */
  readonly first: number
  readonly last: number
  /** The complete document; undefined when there is no subscriber. The caller closes it. */
  readonly document: UnnamedFile | undefined
}

export interface BatchOptions extends SelectOptions {
  readonly writer: Writer
  /** The document is in the folder of this file. */
  readonly neighbor: string
}

/**
 * Writes the selected subscribers to a document. It is a file and not a stream, so that the command that reads it gets
 * all of it even if this process is killed.
 *
 * @throws Failure when the document cannot be written
 */
export async function createBatch(
  store: Pick<SubscriberStore, 'list' | 'numbering'>,
  { writer, neighbor, ...options }: BatchOptions,
): Promise<Batch> {
  let [cursor, rows, reserved, first, last] = [options.after, 0, 0, 0, 0]
  let document: UnnamedFile | undefined
  try {
    for await (const page of selectPages(store, options)) {
      cursor = page.cursor
      reserved += page.reserved
      const end = page.rows.at(-1)
      if (end === undefined) continue
      if (document === undefined) {
        document = await createUnnamedFile(neighbor)
        await document.write(writer.head)
        first = page.rows[0]?.seq ?? 0
      }
      await document.write(writer.toText(page.rows))
      last = end.seq
      rows += page.rows.length
    }
  } catch (error) {
    await document?.close()
    throw error
  }
  return { cursor, rows, reserved, first, last, document }
}
