/** CORS for the endpoint: which origins may call it from a browser (the Fetch standard, section 3.2). */

import type { Limits } from '../limits.ts'
import { createJsonResponses, type HeaderFields, type JsonResponses } from './responses.ts'

export interface Cors {
  /** The responses to the origin of a request. */
  toResponses(request: Request): JsonResponses
  /** The response to a preflight from an allowed origin; undefined for every other request. */
  preflight(request: Request): Response | undefined
}

const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'POST',
  'Access-Control-Allow-Headers': 'Content-Type',
  // Seconds that a browser may cache a preflight. Browsers use at most two hours.
  'Access-Control-Max-Age': '7200',
}

/**
 * Prepares the responses to each origin. Without CORS and for any origin, every request gets the same responses.
 *
 * @param origins the allowed origins, `*` for all; an empty list turns CORS off
 * @param headers of every response
 */
export function createCors(origins: readonly string[], headers: HeaderFields, limits: Limits): Cors {
  const isList = origins.length > 0 && !origins.includes('*')
  // A cache must not serve the response to one origin to another.
  const common = isList ? { ...headers, Vary: 'Origin' } : headers
  const allow = (origin: string) => createJsonResponses({ ...common, 'Access-Control-Allow-Origin': origin }, limits)
  const listed = new Map(isList ? origins.map((origin) => [origin, allow(origin)]) : [])
  const others = origins.includes('*') ? allow('*') : createJsonResponses(common, limits)

  function toResponses(request: Request): JsonResponses {
    return isList ? (listed.get(request.headers.get('origin') ?? '') ?? others) : others
  }

  return {
    toResponses,
    preflight(request) {
      const isPreflight = request.headers.has('origin') && request.headers.has('access-control-request-method')
      if (request.method !== 'OPTIONS' || !isPreflight) return undefined
      const fields = toResponses(request).headers
      if (!('Access-Control-Allow-Origin' in fields)) return undefined
      return new Response(null, { status: 204, headers: { ...fields, ...PREFLIGHT } })
    },
  }
}
