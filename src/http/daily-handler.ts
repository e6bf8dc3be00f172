/** Serves a document whose text depends on the date. */

import type { DailyDocument } from '../documents/document.ts'
import { createDocumentHandler } from './document-handler.ts'
import type { Handler, HeaderFields } from './responses.ts'

/**
 * Creates a handler that writes the document again at the first request of each day (UTC), so that its dates are
 * right however long the process runs.
 *
 * @param headers of every response of the service
 */
export function createDailyHandler({ write, ...document }: DailyDocument, headers: HeaderFields): Handler {
  let day: string | undefined
  let handler: Handler

  return (request) => {
    const today = new Date().toISOString().slice(0, 10)
    if (today !== day) {
      day = today
      handler = createDocumentHandler({ ...document, body: write(today) }, headers)
    }
    return handler(request)
  }
}
