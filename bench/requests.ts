/** The requests that load.lua creates. */

import { ENDPOINT } from '../src/routes.ts'

/** `known` are 1,000 addresses again and again, `listed` are those of the large list of PostgreSQL in random order. */
export type RequestKind = 'new' | 'known' | 'listed' | 'mixed' | 'document'

/** Requests of one kind. */
export interface Requests {
  readonly kind: RequestKind
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sends the ETag of the document as If-None-Match. */
  readonly unchanged?: boolean
}

/** New addresses, which most trials send. */
export const NEW: Requests = { kind: 'new', path: ENDPOINT.path }
