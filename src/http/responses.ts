/** The answers of the JSON contract, each with its body and headers made once. */

import { type ErrorReason, PROBLEMS, toErrorBody } from '../errors.ts'
import { ALLOW } from '../routes.ts'

export interface Answers {
  /** The address is on the list: the same for a new and for a known one. */
  accepted(): Response
  /** The error that a fault is answered with. */
  problem(fault: ErrorReason): Response
}

/** Headers as pairs of name and value. */
export type HeaderFields = Readonly<Record<string, string>>

/**
 * What every answer carries.
 *
 * @param baseUrl where it is https, browsers are told to stay with https (RFC 6797)
 */
export function createCommonHeaders(baseUrl: string): HeaderFields {
  return {
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    ...(baseUrl.startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000' }),
  }
}

/** Makes the answers. @param headers what each of them carries besides its media type */
export function createAnswers(headers: HeaderFields): Answers {
  const accepted = toAnswer(200, { ok: true }, headers)
  const problems = {} as Record<ErrorReason, () => Response>
  for (const fault of Object.keys(PROBLEMS) as ErrorReason[]) {
    const problem = PROBLEMS[fault]
    problems[fault] = toAnswer(problem.status, toErrorBody(problem), { ...headers, ...toFieldsOf(fault) })
  }
  return { accepted, problem: (fault) => problems[fault]() }
}

/** The headers that a fault calls for. */
function toFieldsOf(fault: ErrorReason): HeaderFields {
  // RFC 9110 section 15.5.6.
  if (fault === 'post_only' || fault === 'read_only') return { Allow: ALLOW[fault] }
  // What is left of a body that is not read to its end must not be taken for the next request.
  if (fault === 'slow_body' || fault === 'large_body') return { Connection: 'close' }
  return {}
}

/** Prepares an answer in JSON. */
export function toAnswer(status: number, body: object, fields: HeaderFields): () => Response {
  const text = JSON.stringify(body)
  const headers = new Headers({ 'Content-Type': 'application/json', ...fields })
  return () => new Response(text, { status, headers })
}
