/** Random requests: most of them well-formed and strange, some of them not HTTP. */

import { ALIASES } from '../attacks/aliases.ts'
import type { Random } from '../random.ts'
import { ENDPOINT } from '../rollcall.ts'
import { createBodies } from './bodies.ts'

export interface FuzzRequest {
  /** As Latin-1. */
  readonly bytes: string
  readonly method: string
  /** The target as it is sent. */
  readonly target: string
  /**
   * What may come back. `declared`: only what the description declares. `page`: an HTML page or its errors, which the
   * description leaves out. `anything`: the bytes may not be HTTP, so the runtime may refuse them or hang up.
   */
  readonly expects: 'declared' | 'page' | 'anything'
  /** The identity that a 200 to a POST puts on the list. */
  readonly identity?: string | undefined
}

const DOCUMENTS = [
  ...['/openapi.json', '/openapi.yaml', '/llms.txt', '/sitemap.xml', '/robots.txt'],
  ...['/.well-known/oauth-protected-resource', '/.well-known/api-catalog', '/.well-known/security.txt'],
]
const PAGES = ['/', '/de', '/DE', '/zh-hans', '/en']

/** A target that does not begin with a slash is not valid. */
const PATHS = ALIASES.filter((path) => path.startsWith('/'))

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']
const HOSTS = [
  ...['127.0.0.1', '127.0.0.1:3000', 'www.127.0.0.1', 'localhost', '[::1]:80', 'a b', 'x@y', 'a/b', ''],
  ...['"><b>', '\xff\xfe', 'www.127.0.0.1:99999', 'a:http'],
]

/** Fields that the service reads, with values that it knows. */
const FIELDS: readonly (readonly [string, readonly string[]])[] = [
  ['Accept', ['*/*', 'text/html', 'text/markdown', 'text/markdown;q=0.9, text/html;q=1', 'application/json;q=0']],
  ['Accept-Encoding', ['gzip', 'br', 'zstd', 'identity;q=0, *', 'gzip;q=2', 'br;q=0.001, gzip']],
  ['Accept-Language', ['de', 'zh-Hant-TW, de;q=0.5', '*', 'x-y-z', 'de-DE-u-co-phonebk, fr;q=0']],
  ['If-None-Match', ['*', '"x"', 'W/"x", "y"', '"', ',,,']],
  ['If-Modified-Since', ['Sat, 21 Nov 2026 00:00:00 GMT', 'never']],
  ['Range', ['bytes=0-1', 'bytes=-1', 'bytes=5-1,,']],
  ['Origin', ['https://example.org', 'null', '*']],
  ['Access-Control-Request-Method', ['POST']],
  ['Cookie', ['a=b']],
  ['Authorization', ['Bearer x', 'Basic ====']],
  ['Content-Encoding', ['gzip', 'identity']],
  ['Expect', ['100-continue', 'miracles']],
  ['Connection', ['keep-alive', 'close', 'Upgrade']],
  ['Upgrade', ['h2c', 'websocket']],
  ['X-Forwarded-Host', ['evil.example']],
]

const MEDIA_TYPES = [
  ...['application/json; charset=utf-8', 'Application/JSON', 'text/plain', 'application/x-www-form-urlencoded'],
  ...['multipart/form-data; boundary=x', 'application/json;', 'application/jsonp', '', ';', 'application/json\t;a="b'],
]

/** A field that is longer than this is refused by the runtime, as is a request with more fields. */
const LONGEST_VALUE = 4_000

/** Creates a generator. Every request with a valid address has one of its own. */
export function createFuzz(random: Random): () => FuzzRequest {
  const bodies = createBodies(random)

  const printable = (most: number) =>
    Array.from({ length: random.below(most) }, () => String.fromCharCode(random.between(0x20, 0x7e))).join('')

  function toField([name, values]: (typeof FIELDS)[number]): string {
    if (random.chance(0.7)) return `${name}: ${random.pick(values)}`
    if (random.chance(0.02)) return `${name}: ${random.pick(values).repeat(LONGEST_VALUE).slice(0, LONGEST_VALUE)}`
    return `${name}: ${printable(60).trim()}`
  }

  function toTarget(): { readonly target: string; readonly expects: FuzzRequest['expects'] } {
    const dice = random.next()
    const query = random.chance(0.15) ? `?${printable(20).replace(/[ #]/g, '')}` : ''
    if (dice < 0.55) return { target: ENDPOINT + query, expects: 'declared' }
    if (dice < 0.75) return { target: random.pick(DOCUMENTS) + query, expects: 'declared' }
    if (dice < 0.82) return { target: random.pick(PAGES) + query, expects: 'page' }
    if (dice < 0.84) return { target: random.pick(PATHS), expects: 'declared' }
    const name = printable(30).replace(/[ #?/\\.%]/g, '-')
    return { target: `/nowhere/${name}${query}`, expects: 'declared' }
  }

  /** The runtime answers 400 to a trailer, also when the address is stored (RFC 9112 section 7.1.2). */
  function toFraming(body: string): { readonly field: string; readonly payload: string; readonly hasTrailer?: true } {
    if (random.chance(0.7)) return { field: `Content-Length: ${body.length}`, payload: body }
    const cut = random.between(0, body.length)
    const parts = [body.slice(0, cut), body.slice(cut)].filter(Boolean)
    const chunks = parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`)
    const field = 'Transfer-Encoding: chunked'
    if (random.chance(0.02)) return { field, payload: `${chunks.join('')}0\r\nX-End: a\r\n\r\n`, hasTrailer: true }
    return { field, payload: `${chunks.join('')}0\r\n\r\n` }
  }

  function createRequest(): FuzzRequest {
    const { target, expects } = toTarget()
    const isEndpoint = target.startsWith(ENDPOINT) && expects === 'declared'
    const method = random.chance(isEndpoint ? 0.85 : 0.1) ? 'POST' : random.pick(METHODS)
    const isJson = random.chance(0.85)
    const type = isJson ? 'application/json' : random.pick(MEDIA_TYPES)
    const fields = [`Host: ${random.chance(0.8) ? '127.0.0.1' : random.pick(HOSTS)}`]
    for (let left = random.chance(0.5) ? 0 : random.below(6); left > 0; left--)
      fields.push(toField(random.pick(FIELDS)))
    const { text, identity } = bodies.next()
    const hasBody = method !== 'GET' && method !== 'HEAD' && random.chance(0.97)
    const { field, payload, hasTrailer } = toFraming(text)
    if (hasBody) fields.push(`Content-Type: ${type}`, field)
    return {
      bytes: `${method} ${target} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${hasBody ? payload : ''}`,
      method,
      target,
      expects: hasBody && hasTrailer ? 'anything' : expects,
      ...(hasBody && { identity }),
    }
  }

  /** Breaks a request in a few places of its head, or sends something else behind it. */
  function mutate({ bytes, method, target }: FuzzRequest): FuzzRequest {
    let broken = bytes
    for (let left = random.between(1, 3); left > 0; left--) {
      const at = random.below(Math.min(broken.length, 400))
      const added = Array.from({ length: random.below(3) }, () => String.fromCharCode(random.below(256)))
      broken = broken.slice(0, at) + added.join('') + broken.slice(at + random.below(3))
    }
    return { bytes: random.chance(0.1) ? broken + bytes : broken, method, target, expects: 'anything' }
  }

  return () => {
    const request = createRequest()
    return random.chance(0.1) ? mutate(request) : request
  }
}
