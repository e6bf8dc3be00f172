/** Responses that several handlers send, and the headers of each kind. */

import { createMovedNote } from '../documents/terms.ts'
import { PROBLEMS, type Problem, toErrorBody, UNDESCRIBED_PROBLEMS } from '../errors.ts'
import { CACHE_CONTROL } from '../routes.ts'

/** Responds to a request. A handler that needs the body begins to read it before it returns; see `discardUnread` in body.ts. */
export type Handler = (request: Request) => Response | Promise<Response>

/** Whether a request only reads. Its body, if it has one, means nothing (RFC 9110 section 9.3.1). */
export function isRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Headers as pairs of name and value. */
export type HeaderFields = Readonly<Record<string, string>>

const ALL_PROBLEMS = { ...PROBLEMS, ...UNDESCRIBED_PROBLEMS }

type ProblemName = keyof typeof ALL_PROBLEMS

/** JSON responses that share their headers. A redirect in the same place takes `headers` too. */
export interface JsonResponses {
  readonly headers: HeaderFields
  /** The address is on the list. New and known addresses get the same response. */
  accepted(): Response
  /** An error of the table. */
  problem(name: ProblemName): Response
}

/**
 * Creates the headers of each kind of response: of files that the page loads; of documents and pages; of everything at the path
 * of the endpoint; and of errors and redirects at all other paths. Files have no `link`, which is longer than some of them.
 */
export function createHeaders(baseUrl: string, link: string) {
  const asset = {
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    // Browsers then use https only (RFC 6797).
    ...(baseUrl.startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000' }),
  }
  const document = { ...asset, Link: link }
  const uncached = { 'Cache-Control': CACHE_CONTROL.none }
  return { asset, document, endpoint: { ...asset, ...uncached }, error: { ...document, ...uncached } }
}

/** Creates the responses, with these headers, their Content-Type, and Allow for a 405 (RFC 9110 section 15.5.6). */
export function createJsonResponses(headers: HeaderFields): JsonResponses {
  const fields = { 'Content-Type': 'application/json', ...headers }
  // Most requests of a busy service get this one, so its parts are made once.
  const acceptedBody = JSON.stringify({ ok: true })
  const acceptedHeaders = new Headers(fields)
  return {
    headers,
    accepted: () => new Response(acceptedBody, { headers: acceptedHeaders }),
    problem(name) {
      const problem: Problem = ALL_PROBLEMS[name]
      const { status, allow } = problem
      return Response.json(toErrorBody(problem), { status, headers: { ...fields, ...(allow && { Allow: allow }) } })
    },
  }
}

/**
 * Redirects: 303 to a GET, 308 with the same method and body. The response has a note with a link.
 *
 * @param headers must forbid caches: a browser that remembers a 308 would loop when the owner turns the canonical host around
 */
export function redirect(status: 303 | 308, location: string, headers: HeaderFields): Response {
  const fields = { ...headers, 'Content-Type': 'text/html; charset=utf-8', Location: location }
  return new Response(createMovedNote(location), { status, headers: fields })
}
