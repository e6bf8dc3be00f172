/** A document whose text depends on the date. */

import type { DailyDocument } from '../documents/document.ts'
import { createDocumentHandler, type DocumentHandler } from './document-handler.ts'

/**
 * Serves a document that is made anew for the first request of each day (UTC), so that a process that runs
 * for months says what one that was started today would.
 *
 * @param headers what every answer of the service carries
 */
export function createDailyHandler(
  { write, ...document }: DailyDocument,
  headers: Readonly<Record<string, string>>,
): DocumentHandler {
  let day: string | undefined
  let handler: Promise<DocumentHandler>

  return async (request) => {
    const today = new Date().toISOString().slice(0, 10)
    if (today !== day) {
      day = today
      handler = createDocumentHandler({ ...document, body: write(today) }, headers)
    }
    return (await handler)(request)
  }
}
