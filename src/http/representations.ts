/** Serves read-only resources. Each is built, encoded and hashed once; the other requests only send bytes. */

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { parseAccept } from 'hono/utils/accept'
import type { Document } from '../documents/site-documents.ts'
import { MAX_LIST_FIELD_LENGTH } from '../limits.ts'
import { CACHE_CONTROL } from '../routes.ts'
import type { Handler, HeaderFields } from './responses.ts'

/** Lets pages of any origin read a response (the Fetch standard, section 3.2). */
export const READABLE_BY_ANY_ORIGIN = { 'Access-Control-Allow-Origin': '*' } as const

/** The content codings of documents, in order of preference. */
const CONTENT_CODINGS = ['br', 'gzip'] as const

type ContentCoding = (typeof CONTENT_CODINGS)[number]

/** One encoding of a document. */
interface Representation {
  readonly body: Blob
  readonly etag: string
  readonly okHeaders: Headers
  readonly notModifiedHeaders: Headers
}

/** A document as it is, and the encodings that are smaller. */
type Representations = { readonly identity: Representation } & Partial<Record<ContentCoding, Representation>>

/**
 * Creates the handler of a document, for GET and HEAD. It builds the document at the first request: at the start, the content
 * of all would take a third of the time of the start, and the pictures much more.
 *
 * @param headers of every response of its kind
 */
export function createDocumentHandler(document: Document, headers: HeaderFields): Handler {
  let building: Promise<Representations> | undefined
  return async (request) => {
    building ??= createRepresentations(document, headers).catch((error: unknown) => {
      // A card may not be drawn while there is no memory. The next request tries again.
      building = undefined
      throw error
    })
    const built = await building
    const smaller = CONTENT_CODINGS.filter((coding) => built[coding])
    const coding = chooseCoding(request.headers.get('accept-encoding'), smaller)
    const { body, etag, okHeaders, notModifiedHeaders } = built[coding ?? 'identity'] ?? built.identity
    const isKnown = matchesEtag(request.headers.get('if-none-match'), etag)
    if (isKnown) return new Response(null, { status: 304, headers: notModifiedHeaders })
    return new Response(body, { headers: okHeaders })
  }
}

async function createRepresentations(document: Document, headers: HeaderFields): Promise<Representations> {
  const { mediaType, body } = document
  const bytes = Buffer.from(await body())
  const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)

  function toRepresentation(content: Uint8Array<ArrayBuffer>, coding?: ContentCoding): Representation {
    // A strong tag names the bytes that are sent (RFC 9110 section 8.8.3.3), so each encoding has its own.
    const etag = coding ? `"${digest}-${coding}"` : `"${digest}"`
    const shared = {
      'Cache-Control': CACHE_CONTROL.document,
      ...READABLE_BY_ANY_ORIGIN,
      Vary: 'Accept-Encoding',
      ...headers,
      ...document.headers,
      ETag: etag,
    }
    const own = { 'Content-Type': mediaType, ...(coding && { 'Content-Encoding': coding }) }
    return {
      body: new Blob([content], { type: mediaType }),
      etag,
      okHeaders: new Headers({ ...own, ...shared }),
      notModifiedHeaders: new Headers(shared),
    }
  }

  const built: Representations = { identity: toRepresentation(bytes) }
  for (const coding of CONTENT_CODINGS) {
    const content = await encode(bytes, coding)
    if (content.length < bytes.length) built[coding] = toRepresentation(content, coding)
  }
  return built
}

function encode(bytes: Uint8Array, coding: ContentCoding): Promise<Uint8Array<ArrayBuffer>> {
  if (coding === 'gzip') return promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION })
  // The highest level, 11, takes twice as long as this one, and saves 2 % of the bytes.
  return promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } })
}

/**
 * Chooses a content coding by the Accept-Encoding header (RFC 9110 section 12.5.3).
 *
 * @param field the value of the header; null when it is missing
 * @param offered codings in the server's order of preference, besides `identity`
 * @returns undefined for `identity`, also when the request forbids everything, which the RFC allows
 */
export function chooseCoding<C extends string>(field: string | null, offered: readonly C[]): C | undefined {
  const weights = readWeights(field)
  const least = weights.get('identity') ?? 0
  const toWeight = (coding: C) => weights.get(coding) ?? weights.get('*') ?? 0
  const accepted = offered.filter((coding) => toWeight(coding) > 0 && toWeight(coding) >= least)
  const [best] = accepted.toSorted((one, other) => toWeight(other) - toWeight(one))
  return best
}

/**
 * Whether an Accept header prefers Markdown (RFC 9110 section 12.5.1, RFC 7763): it names Markdown with at least the
 * weight of HTML. Browsers name HTML and any type; agents that read both name Markdown too.
 *
 * @param field the value of the header; null when it is missing
 */
export function prefersMarkdown(field: string | null): boolean {
  const weights = readWeights(field)
  const markdown = weights.get('text/markdown') ?? 0
  const html = weights.get('text/html') ?? weights.get('text/*') ?? weights.get('*/*') ?? 0
  return markdown > 0 && markdown >= html
}

/**
 * Whether an If-None-Match header names an entity tag, by weak comparison (RFC 9110 sections 8.8.3.2 and 13.1.2).
 *
 * @param field the value of the header: `*`, or a list of strong or weak tags; null when it is missing
 * @param etag a strong tag with its quotes
 */
export function matchesEtag(field: string | null, etag: string): boolean {
  if (!isReadable(field)) return false
  // A weak tag is `W/` and a strong one.
  return field.trim() === '*' || field.match(/"[^"]*"/g)?.includes(etag) === true
}

/** Reads a list of names with weights (RFC 9110 section 12.4.2). Of equal names, the highest weight counts. */
function readWeights(field: string | null): ReadonlyMap<string, number> {
  if (!isReadable(field)) return new Map()
  // The list comes with the highest weight first, and the last entry of a name stays in the map.
  const entries = parseAccept(field).toReversed()
  return new Map(entries.map(({ type, q }) => [type.toLowerCase(), q]))
}

function isReadable(field: string | null): field is string {
  return field !== null && field.length <= MAX_LIST_FIELD_LENGTH
}
