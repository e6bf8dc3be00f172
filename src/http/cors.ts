/** CORS for the endpoint: which origins may call it from a browser (the Fetch standard, section 3.2). */

import { createJsonResponses, type HeaderFields, type JsonResponses } from './responses.ts'

const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'POST',
  // Scripts of monitoring and of clients add headers. The endpoint has no credentials that a header could carry.
  'Access-Control-Allow-Headers': '*',
  // Seconds that a browser may cache a preflight: as long as Chrome does at most.
  'Access-Control-Max-Age': '7200',
}

/** Returns the responses to the origin of a request. */
export type Cors = (request: Request) => JsonResponses

/**
 * Prepares the responses to each origin. Without CORS, and with `*`, every request gets the same responses.
 *
 * @param origins the allowed origins, `*` for all; an empty list turns CORS off
 * @param headers of every response
 */
export function createCors(origins: readonly string[], headers: HeaderFields): Cors {
  if (origins.length === 0) {
    const withoutCors = createJsonResponses(headers)
    return () => withoutCors
  }
  if (origins.includes('*')) {
    const toAll = createJsonResponses({ ...headers, ...allow('*') })
    return () => toAll
  }
  // A cache must not serve the response to one origin to another.
  const varying = { ...headers, Vary: 'Origin' }
  const refused = createJsonResponses(varying)
  const allowed = new Map(origins.map((origin) => [origin, createJsonResponses({ ...varying, ...allow(origin) })]))
  return (request) => allowed.get(request.headers.get('origin') ?? '') ?? refused
}

function allow(origin: string): HeaderFields {
  return { 'Access-Control-Allow-Origin': origin }
}

/** Returns the response to a preflight from an allowed origin; undefined for every other request. */
export function toPreflightResponse({ method, headers }: Request, fields: HeaderFields): Response | undefined {
  const isPreflight = method === 'OPTIONS' && headers.has('origin') && headers.has('access-control-request-method')
  if (!isPreflight || !('Access-Control-Allow-Origin' in fields)) return undefined
  return new Response(null, { status: 204, headers: { ...fields, ...PREFLIGHT } })
}
