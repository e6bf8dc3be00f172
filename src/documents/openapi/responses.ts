/** The responses of the description. */

import type { oas31 } from 'openapi3-ts'
import { type ErrorReason, PROBLEMS, type Problem } from '../../errors.ts'
import { ENDPOINT } from '../../routes.ts'
import { ACCEPTED_TERMS, REDIRECT_TERMS } from '../terms.ts'
import { toHeaders } from './headers.ts'
import { toReference } from './reference.ts'

const ENDPOINT_HEADERS = { 'Cache-Control': 'NoStore' } as const

/** The headers of a document, both with 200 and with 304 (RFC 9110 section 15.4.5). */
export const DOCUMENT_HEADERS = {
  ETag: 'ETag',
  'Cache-Control': 'PublicCache',
  'Access-Control-Allow-Origin': 'AnyOrigin',
  Vary: 'VaryByEncoding',
  Link: 'Link',
} as const

/** The 200 of the endpoint. It is not a component, because swagger-typescript-api does not follow a reference to it. */
export const ACCEPTED = {
  description: ACCEPTED_TERMS,
  headers: toHeaders(ENDPOINT_HEADERS),
  content: {
    [ENDPOINT.mediaType]: {
      schema: toReference('schemas', 'Accepted'),
      examples: { accepted: toReference('examples', 'accepted') },
    },
  },
} as const satisfies oas31.ResponseObject

/** Builds the response components. */
export function createResponses() {
  return {
    NotModified: {
      description: 'The document still has the ETag in If-None-Match.',
      headers: toHeaders(DOCUMENT_HEADERS),
    },
    CanonicalHost: {
      description: REDIRECT_TERMS,
      headers: toHeaders({ Location: 'Location' }),
    },
    InvalidRequest: createError(listReasons(400), {
      description: 'The body, or the address in it, is not valid. `error.hint` says how to correct it.',
      headers: ENDPOINT_HEADERS,
    }),
    NotFound: createError(listReasons(404), { headers: { Link: 'Link' } }),
    PostOnly: createError(['post_only'], { headers: { Allow: 'AllowPost', ...ENDPOINT_HEADERS } }),
    ReadOnly: createError(['read_only'], { headers: { Allow: 'AllowRead' } }),
    BodyTimeout: createError(listReasons(408), { headers: ENDPOINT_HEADERS }),
    BodyTooLarge: createError(listReasons(413), { headers: ENDPOINT_HEADERS }),
    UnsupportedMediaType: createError(listReasons(415), { headers: ENDPOINT_HEADERS }),
    ServiceFailure: createError(listReasons(500), {
      description: 'The service failed. It does not confirm that an address was stored.',
    }),
  } as const satisfies Record<string, oas31.ResponseObject>
}

/** Refers to a response component. */
export function toResponse(name: keyof ReturnType<typeof createResponses>): oas31.ReferenceObject {
  return toReference('responses', name)
}

function listReasons(status: Problem['status']): ErrorReason[] {
  return (Object.keys(PROBLEMS) as ErrorReason[]).filter((reason) => PROBLEMS[reason].status === status)
}

interface ErrorOptions {
  /** Without one, the messages of the reasons. */
  readonly description?: string
  readonly headers?: Parameters<typeof toHeaders>[0]
}

function createError(reasons: readonly ErrorReason[], { description, headers }: ErrorOptions) {
  const codes = [...new Set(reasons.map((reason) => PROBLEMS[reason].code))]
  return {
    description: description ?? reasons.map((reason) => PROBLEMS[reason].message).join(' '),
    ...(headers && { headers: toHeaders(headers) }),
    content: {
      'application/json': {
        // Only the codes of this status, so that a response with another code does not match.
        schema: {
          allOf: [
            toReference('schemas', 'Error'),
            { type: 'object', properties: { message: { type: 'string', enum: codes } } },
          ],
        },
        examples: Object.fromEntries(reasons.map((reason) => [reason, toReference('examples', reason)])),
      },
    },
  } as const satisfies oas31.ResponseObject
}
