/** Which pages of other origins may call the endpoint (the Fetch standard, section 3.2). */

import { type Answers, createAnswers, type HeaderFields } from './answers.ts'

export interface Cors {
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
    return { answersFor: () => answers, preflight: () => undefined }
  }
  const all = origins.includes('*')
  // An answer that differs by origin must not be handed to another one by a cache.
  const base = all ? headers : { ...headers, Vary: 'Origin' }
  const toAllowed = (origin: string) => ({ ...base, 'Access-Control-Allow-Origin': origin })
  const answers = new Map(origins.map((origin) => [origin, createAnswers(toAllowed(origin))]))
  const others = answers.get('*') ?? createAnswers(base)

  return {
    answersFor: (request) => answers.get(request.headers.get('origin') ?? '') ?? others,
    preflight(request) {
      const origin = request.headers.get('origin')
      if (request.method !== 'OPTIONS' || origin === null) return undefined
      if (!request.headers.has('access-control-request-method')) return undefined
      if (!all && !answers.has(origin)) return undefined
      return new Response(null, {
        status: 204,
        headers: {
          ...toAllowed(all ? '*' : origin),
          'Access-Control-Allow-Methods': 'POST',
          'Access-Control-Allow-Headers': 'Content-Type',
          'Access-Control-Max-Age': String(PREFLIGHT_MAX_AGE_S),
        },
      })
    },
  }
}
