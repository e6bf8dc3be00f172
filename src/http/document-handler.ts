/** Read-only resources: each is encoded, hashed and given its headers once, at start; a request only hands over bytes. */

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'
import type { Document } from '../documents/document.ts'
import { CACHE_CONTROL, CONTENT_CODINGS } from '../routes.ts'
import { chooseCoding, matchesEtag } from './negotiation.ts'

/** Answers a GET or a HEAD. */
export type DocumentHandler = (request: Request) => Response | Promise<Response>

/** One encoding of a document, ready to be sent. */
interface Representation {
  readonly body: Blob
  readonly etag: string
  readonly found: Headers
  readonly unchanged: Headers
}

/** Says that pages of any origin may read an answer (the Fetch standard, section 3.2). */
export const READ_FROM_ANYWHERE = { 'Access-Control-Allow-Origin': '*' } as const

type Coding = (typeof CONTENT_CODINGS)[number] | 'identity'

/** Different Accept-Encoding fields whose outcome is remembered for a document; there are few in the world. */
const REMEMBERED_FIELDS = 64

/**
 * Prepares a document in every encoding that makes it smaller.
 *
 * @param headers what every answer of the service carries
 */
export async function createDocumentHandler(
  document: Document,
  headers: Readonly<Record<string, string>>,
): Promise<DocumentHandler> {
  const representations = await createRepresentations(document, headers)
  const codings = CONTENT_CODINGS.filter((coding) => representations.has(coding))
  const identity = representations.get('identity') as Representation
  const chosen = new Map<string, Representation>()

  function choose(field: string | null): Representation {
    if (!field) return identity
    const known = chosen.get(field)
    if (known) return known
    const representation = representations.get(chooseCoding(field, codings)) ?? identity
    if (chosen.size < REMEMBERED_FIELDS) chosen.set(field, representation)
    return representation
  }

  return (request) => {
    const { body, etag, found, unchanged } = choose(request.headers.get('accept-encoding'))
    const known = request.headers.get('if-none-match')
    return known !== null && matchesEtag(known, etag)
      ? new Response(null, { status: 304, headers: unchanged })
      : new Response(body, { headers: found })
  }
}

async function createRepresentations(
  { mediaType, body, headers: own }: Document,
  general: Readonly<Record<string, string>>,
): Promise<Map<Coding, Representation>> {
  const bytes = Buffer.from(body)
  const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
  const encoded = await Promise.all(
    CONTENT_CODINGS.map(async (coding) => [coding, await encode(bytes, coding)] as const),
  )
  const smaller = encoded.filter(([, { length }]) => length < bytes.length)
  const shared = {
    'Cache-Control': CACHE_CONTROL.document,
    ...READ_FROM_ANYWHERE,
    Vary: 'Accept-Encoding',
    ...general,
    ...own,
  }
  return new Map(
    [['identity', bytes] as const, ...smaller].map(([coding, content]) => {
      // A strong tag names the bytes that are sent (RFC 9110 section 8.8.3.3), so each encoding has its own.
      const etag = coding === 'identity' ? `"${digest}"` : `"${digest}-${coding}"`
      const found = new Headers({ 'Content-Type': mediaType, ...shared, ETag: etag })
      if (coding !== 'identity') found.set('Content-Encoding', coding)
      return [
        coding,
        {
          body: new Blob([content], { type: mediaType }),
          etag,
          found,
          unchanged: new Headers({ ...shared, ETag: etag }),
        },
      ]
    }),
  )
}

// Not the most thorough levels: those take ten times as long, at start, for a tenth of the bytes.
function encode(bytes: Uint8Array, coding: Exclude<Coding, 'identity'>): Promise<Uint8Array<ArrayBuffer>> {
  switch (coding) {
    case 'br':
      return promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })
    case 'zstd':
      return promisify(zstdCompress)(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 12 } })
    case 'gzip':
      return promisify(gzip)(bytes, { level: 9 })
  }
}
