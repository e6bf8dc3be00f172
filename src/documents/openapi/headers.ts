/** The response headers of the description. */

import type { oas31 } from 'openapi3-ts'
import { ALLOW, CACHE_CONTROL, CONTENT_CODINGS, DOCUMENTS } from '../../routes.ts'
import { createLinkField } from '../links.ts'
import { toReference } from './reference.ts'

/** An example of an entity tag. */
export const ETAG_EXAMPLE = '"Xb2Cj2tS0uJq3nTqkqvM0w"'

/** Builds the header components. */
export function createHeaders(baseUrl: string) {
  return {
    AllowPost: createConstant('The only method of this path.', ALLOW.post_only),
    AllowRead: createConstant('The only methods of this path.', ALLOW.read_only),
    AnyOrigin: createConstant('Pages of any origin may read this response.', '*'),
    ContentEncoding: {
      description: 'The content coding, if Accept-Encoding allows one.',
      schema: { type: 'string', enum: [...CONTENT_CODINGS] },
      example: CONTENT_CODINGS[0],
    },
    ETag: {
      description: 'A strong entity tag, different for each content coding. Send it in If-None-Match.',
      required: true,
      schema: { type: 'string', pattern: '^"[^"]+"$' },
      example: ETAG_EXAMPLE,
    },
    Link: createConstant(
      'Links to the documents that describe the API and the site (RFC 8288).',
      createLinkField(baseUrl),
    ),
    Location: {
      description: 'The same path and query on the canonical host.',
      required: true,
      schema: { type: 'string', pattern: `^${baseUrl.replace(/[.[\]]/g, '\\$&')}/` },
      example: baseUrl + DOCUMENTS.llmsTxt.path,
    },
    NoStore: createConstant('Caches do not store this response.', CACHE_CONTROL.endpoint),
    PublicCache: createConstant('How long caches may use this response.', CACHE_CONTROL.document),
    VaryByEncoding: {
      description: 'The response depends on Accept-Encoding.',
      required: true,
      schema: { type: 'string', pattern: 'Accept-Encoding' },
      example: 'Accept-Encoding',
    },
  } as const satisfies Record<string, oas31.HeaderObject>
}

/** Converts a map from header fields to component names into references. */
export function toHeaders(
  names: Readonly<Record<string, keyof ReturnType<typeof createHeaders>>>,
): oas31.HeadersObject {
  return Object.fromEntries(Object.entries(names).map(([field, name]) => [field, toReference('headers', name)]))
}

function createConstant(description: string, value: string) {
  return { description, required: true, schema: { type: 'string', const: value }, example: value } as const
}
