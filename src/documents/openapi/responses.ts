/** The reusable responses; what each error says comes from the table of errors. */

import type { oas31 } from 'openapi3-ts'
import { type ErrorReason, PROBLEMS, type Problem } from '../../errors.ts'
import { ENDPOINT } from '../../routes.ts'
import { ACCEPTED_TERMS, REDIRECT_TERMS } from '../terms.ts'
import { toHeaders } from './headers.ts'
import { toReference } from './reference.ts'

const FROM_ENDPOINT = { 'Cache-Control': 'NotStored' } as const

/** The headers of a document, found or not modified (RFC 9110 section 15.4.5). */
export const DOCUMENT_HEADERS = {
  ETag: 'ETag',
  'Cache-Control': 'MayBeStored',
  'Access-Control-Allow-Origin': 'AnyOrigin',
  Vary: 'VaryByEncoding',
  Link: 'Links',
} as const

/** Builds the reusable responses. */
export function createResponses() {
  return {
    Accepted: {
      description: ACCEPTED_TERMS,
      headers: toHeaders(FROM_ENDPOINT),
      content: {
        [ENDPOINT.mediaType]: {
          schema: toReference('schemas', 'Accepted'),
          examples: { accepted: toReference('examples', 'accepted') },
        },
      },
    },
    NotModified: {
      description: 'The copy that If-None-Match names is still good.',
      headers: toHeaders(DOCUMENT_HEADERS),
    },
    OtherHost: {
      description: REDIRECT_TERMS,
      headers: toHeaders({ Location: 'Location' }),
    },
    InvalidRequest: toFailure(faultsOf(400), {
      description: 'The body, or the address in it, cannot be taken; `error.hint` says how to mend it.',
      headers: FROM_ENDPOINT,
    }),
    NoSuchPath: toFailure(faultsOf(404), { headers: { Link: 'Links' } }),
    PostOnly: toFailure(['post_only'], { headers: { Allow: 'AllowPost', ...FROM_ENDPOINT } }),
    ReadOnly: toFailure(['read_only'], { headers: { Allow: 'AllowRead' } }),
    SlowBody: toFailure(faultsOf(408), { headers: FROM_ENDPOINT }),
    LargeBody: toFailure(faultsOf(413), { headers: FROM_ENDPOINT }),
    OtherMediaType: toFailure(faultsOf(415), { headers: FROM_ENDPOINT }),
    Failed: toFailure(faultsOf(500), {
      description: 'The service failed, and does not confirm that an address was kept.',
    }),
  } as const satisfies Record<string, oas31.ResponseObject>
}

/** Refers to a reusable response. */
export function toResponse(name: keyof ReturnType<typeof createResponses>): oas31.ReferenceObject {
  return toReference('responses', name)
}

function faultsOf(status: Problem['status']): ErrorReason[] {
  return (Object.keys(PROBLEMS) as ErrorReason[]).filter((fault) => PROBLEMS[fault].status === status)
}

interface FailureOptions {
  /** What the faults have in common; a fault that stands alone speaks for itself. */
  readonly description?: string
  readonly headers?: Parameters<typeof toHeaders>[0]
}

function toFailure(faults: readonly ErrorReason[], { description, headers }: FailureOptions = {}) {
  const codes = [...new Set(faults.map((fault) => PROBLEMS[fault].code))]
  return {
    description: description ?? faults.map((fault) => PROBLEMS[fault].message).join(' '),
    ...(headers && { headers: toHeaders(headers) }),
    content: {
      'application/json': {
        // Narrowed to the codes of this status, so that an answer with another one is not declared.
        schema: {
          allOf: [
            toReference('schemas', 'Error'),
            { type: 'object', properties: { message: { type: 'string', enum: codes } } },
          ],
        },
        examples: Object.fromEntries(faults.map((fault) => [fault, toReference('examples', fault)])),
      },
    },
  } as const satisfies oas31.ResponseObject
}
