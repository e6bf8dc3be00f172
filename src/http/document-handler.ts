/** Serves read-only resources. Each is built, encoded and hashed once, at its first request; the others only send bytes. */

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type Document, readContent } from '../documents/document.ts'
import { CACHE_CONTROL, CONTENT_CODINGS } from '../routes.ts'
import { chooseCoding, matchesEtag } from './negotiation.ts'
import type { Handler, HeaderFields } from './responses.ts'

/** One encoding of a document. */
interface Representation {
  readonly body: Blob
  readonly etag: string
  readonly okHeaders: Headers
  readonly notModifiedHeaders: Headers
}

/** Lets pages of any origin read a response (the Fetch standard, section 3.2). */
export const READABLE_BY_ANY_ORIGIN = { 'Access-Control-Allow-Origin': '*' } as const

type ContentCoding = (typeof CONTENT_CODINGS)[number]

interface Representations {
  readonly identity: Representation
  /** The encodings that are smaller, in order of preference. */
  readonly encoded: ReadonlyMap<string, Representation>
  readonly codings: readonly ContentCoding[]
}

/** Maximum number of Accept-Encoding values whose choice a document caches. Clients send few different ones. */
const MAX_CACHED_CHOICES = 64

/** Maximum length of an Accept-Encoding value whose choice is cached. Browsers send less than 30 characters. */
const MAX_CACHED_LENGTH = 100

/** Formats that are compressed themselves. To try again takes 18 ms of the start for a font. */
const COMPRESSED: ReadonlySet<string> = new Set(['font/woff2', 'image/png'])

/**
 * Creates the handler of a document, for GET and HEAD.
 *
 * @param headers of every response of the service
 */
export function createDocumentHandler(document: Document, headers: HeaderFields): Handler {
  let respond: ((request: Request) => Response) | undefined
  let loading: Promise<(request: Request) => Response> | undefined

  async function load(): Promise<(request: Request) => Response> {
    respond = createResponder(await createRepresentations(document, headers))
    return respond
  }

  return (request) => {
    if (respond) return respond(request)
    loading ??= load().finally(() => {
      // After a failure, the next request tries again.
      loading = undefined
    })
    return loading.then((respond) => respond(request))
  }
}

function createResponder({ identity, encoded, codings }: Representations): (request: Request) => Response {
  const choices = new Map<string, Representation>()

  function choose(acceptEncoding: string | null): Representation {
    if (!acceptEncoding) return identity
    const cached = choices.get(acceptEncoding)
    if (cached) return cached
    const representation = encoded.get(chooseCoding(acceptEncoding, codings)) ?? identity
    if (choices.size < MAX_CACHED_CHOICES && acceptEncoding.length <= MAX_CACHED_LENGTH) {
      choices.set(acceptEncoding, representation)
    }
    return representation
  }

  return (request) => {
    const { body, etag, okHeaders, notModifiedHeaders } = choose(request.headers.get('accept-encoding'))
    const ifNoneMatch = request.headers.get('if-none-match')
    return ifNoneMatch !== null && matchesEtag(ifNoneMatch, etag)
      ? new Response(null, { status: 304, headers: notModifiedHeaders })
      : new Response(body, { headers: okHeaders })
  }
}

async function createRepresentations(document: Document, headers: HeaderFields): Promise<Representations> {
  const { mediaType } = document
  const bytes = Buffer.from(await readContent(document))
  const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
  const shared = {
    'Cache-Control': CACHE_CONTROL.document,
    ...READABLE_BY_ANY_ORIGIN,
    Vary: 'Accept-Encoding',
    ...headers,
    ...document.headers,
  }

  // A strong tag names the bytes that are sent (RFC 9110 section 8.8.3.3), so each encoding has its own.
  const toRepresentation = (content: Uint8Array<ArrayBuffer>, etag: string, own?: HeaderFields): Representation => ({
    body: new Blob([content], { type: mediaType }),
    etag,
    okHeaders: new Headers({ 'Content-Type': mediaType, ...shared, ETag: etag, ...own }),
    notModifiedHeaders: new Headers({ ...shared, ETag: etag }),
  })

  const contents = await Promise.all(
    (COMPRESSED.has(mediaType) ? [] : CONTENT_CODINGS).map(async (coding) => ({
      coding,
      content: await encode(bytes, coding),
    })),
  )
  const smaller = contents.filter(({ content }) => content.length < bytes.length)
  return {
    identity: toRepresentation(bytes, `"${digest}"`),
    encoded: new Map(
      smaller.map(({ coding, content }) => [
        coding,
        toRepresentation(content, `"${digest}-${coding}"`, { 'Content-Encoding': coding }),
      ]),
    ),
    codings: smaller.map(({ coding }) => coding),
  }
}

// Not the highest levels: those take ten times as long, and save a tenth of the bytes.
function encode(bytes: Uint8Array, coding: ContentCoding): Promise<Uint8Array<ArrayBuffer>> {
  return coding === 'br'
    ? promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })
    : promisify(gzip)(bytes, { level: 9 })
}
