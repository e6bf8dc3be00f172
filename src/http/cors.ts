/** CORS for the endpoint: which origins may call it from a browser (the Fetch standard, section 3.2). */

import { createJsonResponses, type HeaderFields, type JsonResponses } from './responses.ts'

export interface Cors {
  /** The headers of every response to the origin of a request. */
  headersFor(request: Request): HeaderFields
  /** The responses to the origin of a request. */
  responsesFor(request: Request): JsonResponses
  /** The response to a preflight from an allowed origin; undefined for every other request. */
  preflight(request: Request): Response | undefined
}

/** Seconds that a browser may cache a preflight. Browsers use at most two hours. */
const PREFLIGHT_MAX_AGE_S = 7200

/**
 * Prepares the responses to each origin.
 *
 * @param origins the allowed origins, `*` for all; an empty list turns CORS off
 * @param headers of every response
 */
export function createCors(origins: readonly string[], headers: HeaderFields): Cors {
  if (origins.length === 0) {
    const responses = createJsonResponses(headers)
    return { headersFor: () => headers, responsesFor: () => responses, preflight: () => undefined }
  }
  const allowsAll = origins.includes('*')
  // A cache must not serve the response to one origin to another.
  const base = allowsAll ? headers : { ...headers, Vary: 'Origin' }
  const allowed = new Map(origins.map((origin) => [origin, toAllowed(origin, base)]))
  const responses = new Map([...allowed].map(([origin, fields]) => [origin, createJsonResponses(fields)]))
  const others = responses.get('*') ?? createJsonResponses(base)

  return {
    headersFor: (request) => allowed.get(request.headers.get('origin') ?? '') ?? allowed.get('*') ?? base,
    responsesFor: (request) => responses.get(request.headers.get('origin') ?? '') ?? others,
    preflight(request) {
      const origin = request.headers.get('origin')
      if (request.method !== 'OPTIONS' || origin === null) return undefined
      if (!request.headers.has('access-control-request-method')) return undefined
      if (!allowsAll && !allowed.has(origin)) return undefined
      return new Response(null, {
        status: 204,
        headers: {
          ...toAllowed(allowsAll ? '*' : origin, base),
          'Access-Control-Allow-Methods': 'POST',
          'Access-Control-Allow-Headers': 'Content-Type',
          'Access-Control-Max-Age': String(PREFLIGHT_MAX_AGE_S),
        },
      })
    },
  }
}

function toAllowed(origin: string, headers: HeaderFields): HeaderFields {
  return { ...headers, 'Access-Control-Allow-Origin': origin }
}
