/** The endpoint: one address in, on stable storage before the answer leaves. */

import { type Address, parseAddress } from '../email.ts'
import type { ErrorReason } from '../errors.ts'
import type { Intake } from '../intake/intake.ts'
import type { Result } from '../result.ts'
import type { Body, BodyReader } from './body.ts'
import type { Cors } from './cors.ts'
import type { Answers } from './responses.ts'

export interface SubscribeOptions {
  /** Where accepted addresses go. */
  readonly intake: Pick<Intake, 'add'>
  readonly cors: Cors
  readonly body: Pick<BodyReader, 'read'>
}

/** Creates the handler of the endpoint; it answers every method. */
export function createSubscribe({ intake, cors, body }: SubscribeOptions) {
  // Chained by hand: an async function makes promises of its own, which cost 3 % of a request.
  function accept(text: Body, answers: Answers): Response | Promise<Response> {
    if (!text.ok) return answers.problem(text.reason)
    const result = parseSubscription(text.value)
    if (!result.ok) return answers.problem(result.reason)
    // The intake has logged a failure, once for all requests of the commit.
    return intake.add(result.value).then(answers.accepted, () => answers.problem('store_failed'))
  }

  return (request: Request): Response | Promise<Response> => {
    const answers = cors.answersFor(request)
    if (request.method !== 'POST') return cors.preflight(request) ?? answers.problem('post_only')
    if (!isJson(request.headers.get('content-type'))) return answers.problem('media_type')
    const text = body.read(request)
    return text instanceof Promise ? text.then((whole) => accept(whole, answers)) : accept(text, answers)
  }
}

/** Whether a Content-Type field is that of JSON, in any case and with any parameters (RFC 9110 section 8.3.1). */
function isJson(field: string | null): boolean {
  return field === 'application/json' || (field !== null && /^application\/json[ \t]*(?:;|$)/i.test(field))
}

/** Reads a body: an object with an address in it. Other members are ignored. */
function parseSubscription(text: string): Result<Address, ErrorReason> {
  if (text === '') return { ok: false, reason: 'no_body' }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return { ok: false, reason: text.trim() === '' ? 'no_body' : 'malformed_json' }
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { ok: false, reason: 'not_an_object' }
  }
  return parseAddress((body as { email?: unknown }).email)
}
