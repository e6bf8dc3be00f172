/** One path with two documents: a page for people, and Markdown for those who ask for it by name. */

import type { DocumentHandler } from './document-handler.ts'
import { prefersMarkdown } from './negotiation.ts'

export interface Alternatives {
  readonly markdown: DocumentHandler
  /** Answers the methods other than GET and HEAD as well. */
  readonly html: DocumentHandler
}

/** Answers with one of two documents by the Accept field; both answers say that it was read (RFC 9110 section 12.5.5). */
export function createAlternatives({ markdown, html }: Alternatives): DocumentHandler {
  return async (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return html(request)
    const handle = prefersMarkdown(request.headers.get('accept')) ? markdown : html
    const response = await handle(request)
    response.headers.append('Vary', 'Accept')
    return response
  }
}
