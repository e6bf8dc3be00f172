/** The headers that the description declares, and the values that the HTTP layer gives them. */

import type { oas31 } from 'openapi3-ts'
import { ALLOW, CACHE_CONTROL, CONTENT_CODINGS, DOCUMENTS } from '../../routes.ts'
import { createLinkField } from '../links.ts'
import { toReference } from './reference.ts'

/** An entity tag as examples show it. */
export const ETAG_EXAMPLE = '"Xb2Cj2tS0uJq3nTqkqvM0w"'

/** Builds the reusable headers. */
export function createHeaders(baseUrl: string) {
  return {
    AllowPost: toFixed('The only method of this path.', ALLOW.post_only),
    AllowRead: toFixed('The only methods of this path.', ALLOW.read_only),
    AnyOrigin: toFixed('Pages of any origin may read this.', '*'),
    ContentEncoding: {
      description: 'The content coding, where Accept-Encoding asked for one.',
      schema: { type: 'string', enum: [...CONTENT_CODINGS] },
      example: CONTENT_CODINGS[0],
    },
    ETag: {
      description: 'A strong entity tag, one for each content coding; send it back in If-None-Match.',
      required: true,
      schema: { type: 'string', pattern: '^"[^"]+"$' },
      example: ETAG_EXAMPLE,
    },
    Links: toFixed(
      'Where the API is described, for people and for machines (RFC 8288).',
      createLinkField(baseUrl),
    ),
    Location: {
      description: 'The same path and query on the canonical host.',
      required: true,
      schema: { type: 'string', pattern: `^${baseUrl.replace(/[.[\]]/g, '\\$&')}/` },
      example: baseUrl + DOCUMENTS.llmsTxt.path,
    },
    MayBeStored: toFixed('How long a copy may be used without asking.', CACHE_CONTROL.document),
    NotStored: toFixed('Never kept by a cache.', CACHE_CONTROL.endpoint),
    VaryByEncoding: {
      description: 'The answer depends on the content codings that were asked for.',
      required: true,
      schema: { type: 'string', pattern: 'Accept-Encoding' },
      example: 'Accept-Encoding',
    },
  } as const satisfies Record<string, oas31.HeaderObject>
}

/** Refers to reusable headers by the names under which they are sent. */
export function toHeaders(
  names: Readonly<Record<string, keyof ReturnType<typeof createHeaders>>>,
): oas31.HeadersObject {
  return Object.fromEntries(Object.entries(names).map(([sent, name]) => [sent, toReference('headers', name)]))
}

function toFixed(description: string, value: string) {
  return { description, required: true, schema: { type: 'string', const: value }, example: value } as const
}
