/** The endpoint: reads one address, and responds when it is on stable storage. */

import { type Address, parseAddress, type Result } from '../email.ts'
import type { ErrorReason } from '../errors.ts'
import type { Intake } from '../intake/intake.ts'
import { ENDPOINT } from '../routes.ts'
import { type Body, type BodyReader, closeIfCut, hasMediaType } from './body.ts'
import { type Cors, toPreflightResponse } from './cors.ts'
import type { Handler, JsonResponses } from './responses.ts'

/** Creates the handler of the endpoint. It handles every method. */
export function createSubscribe(intake: Pick<Intake, 'add'>, cors: Cors, bodies: Pick<BodyReader, 'read'>): Handler {
  // Not async: the promises of an async function cost 3 % of a request.
  function accept(body: Body, { headers }: Request, responses: JsonResponses): Response | Promise<Response> {
    if (typeof body !== 'string') return closeIfCut(body, responses.problem(body.reason))
    const address = parseSubscription(body)
    if (!address.ok) {
      const isCoded = address.reason === 'malformed_json' && headers.has('content-encoding')
      return responses.problem(isCoded ? 'content_coding' : address.reason)
    }
    // The intake logs failures, once for all requests of a commit.
    return intake.add(address.value).then(responses.accepted, () => responses.problem('store_failed'))
  }

  return (request) => {
    const responses = cors(request)
    if (request.method !== 'POST') {
      return toPreflightResponse(request, responses.headers) ?? responses.problem('post_only')
    }
    if (!hasMediaType(request, ENDPOINT.mediaType)) {
      // The runtime joins two fields (RFC 9110 section 5.3).
      const hasTwo = request.headers.get('content-type')?.includes(',')
      return responses.problem(hasTwo ? 'two_media_types' : 'media_type')
    }
    return bodies.read(request).then((body) => accept(body, request, responses))
  }
}

/** Parses the text of a body: an object with an address. Ignores other members. */
function parseSubscription(text: string): Result<Address, ErrorReason> {
  if (text.trim() === '') return { ok: false, reason: 'no_body' }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return { ok: false, reason: 'malformed_json' }
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { ok: false, reason: 'not_an_object' }
  }
  return parseAddress((body as { email?: unknown }).email)
}
