/** Which pages of other origins may call the endpoint (the Fetch standard, section 3.2). */

import { type Answers, createAnswers, type HeaderFields } from './responses.ts'

export interface Cors {
  /** The headers of every answer to the origin that a request names, or to none. */
  fieldsFor(request: Request): HeaderFields
  /** The answers for the origin that a request names, or those for none. */
  answersFor(request: Request): Answers
  /** The answer to a preflight from an origin that is let in; undefined where the request is no such thing. */
  preflight(request: Request): Response | undefined
}

/** Seconds for which a browser may remember a preflight; the most that any browser takes is two hours. */
const PREFLIGHT_MAX_AGE_S = 7200

/**
 * Prepares the answers for each origin.
 *
 * @param origins those that are let in; `*` for all; none switches CORS off
 * @param headers what every answer carries
 */
export function createCors(origins: readonly string[], headers: HeaderFields): Cors {
  if (origins.length === 0) {
    const answers = createAnswers(headers)
    return { fieldsFor: () => headers, answersFor: () => answers, preflight: () => undefined }
  }
  const all = origins.includes('*')
  // An answer that differs by origin must not be handed to another one by a cache.
  const base = all ? headers : { ...headers, Vary: 'Origin' }
  const allowed = new Map(origins.map((origin) => [origin, toAllowed(origin, base)]))
  const answers = new Map([...allowed].map(([origin, fields]) => [origin, createAnswers(fields)]))
  const others = answers.get('*') ?? createAnswers(base)

  return {
    fieldsFor: (request) => allowed.get(request.headers.get('origin') ?? '') ?? allowed.get('*') ?? base,
    answersFor: (request) => answers.get(request.headers.get('origin') ?? '') ?? others,
    preflight(request) {
      const origin = request.headers.get('origin')
      if (request.method !== 'OPTIONS' || origin === null) return undefined
      if (!request.headers.has('access-control-request-method')) return undefined
      if (!all && !answers.has(origin)) return undefined
      return new Response(null, {
        status: 204,
        headers: {
          ...toAllowed(all ? '*' : origin, base),
          'Access-Control-Allow-Methods': 'POST',
          'Access-Control-Allow-Headers': 'Content-Type',
          'Access-Control-Max-Age': String(PREFLIGHT_MAX_AGE_S),
        },
      })
    },
  }
}

function toAllowed(origin: string, fields: HeaderFields): HeaderFields {
  return { ...fields, 'Access-Control-Allow-Origin': origin }
}
