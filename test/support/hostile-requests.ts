/** Random requests that are meant to cost the service far more than their sender, each with a valid one of its size. */

import fc from 'fast-check'
import { DOCUMENTS, ENDPOINT, MAX_BODY_BYTES } from './contract.ts'
import { toChunk } from './endpoint.ts'
import { toRequest } from './raw.ts'
import type { Pair } from './request-cost.ts'

export interface HostileRequest extends Pair {
  /** What the request has in the place of a plain text. */
  readonly name: string
}

/** A text that repeats some pieces. */
interface Shape {
  readonly start: string
  readonly pieces: readonly string[]
  readonly end: string
  /** Makes each repetition different. */
  readonly isNumbered: boolean
  /** Maximum size in bytes. */
  readonly size: number
}

/** Bytes of a field or of a target. The runtime takes 16 KiB of headers in all. */
const MAX_FIELD = 15_000

/** Limits of the code, because the worst text may be just within one. */
const LIMITS = [35, 63, 64, 100, 240, 254, 255, 260, 512, 1_000, 1_001]

export const HOST = 'Host: a.example'
const VALID_JSON = '{"email":"plain@example.org"}'
const FORM_TYPE = 'application/x-www-form-urlencoded'
const VALID_FORM = 'email=plain%40example.org&x='

/** Returns any of the requests below. A failure prints the name. */
export function hostileRequests(): fc.Arbitrary<HostileRequest> {
  return fc
    .oneof(fields(), hosts(), targets(), jsonTexts(), jsonEmails(), formEmails(), formTexts(), chunks())
    .map((request) => ({ ...request, [fc.toStringMethod]: () => request.name }))
}

/** Writes a POST to the endpoint or to the page. */
export function toPost(path: string, body: string): string {
  const type = path === ENDPOINT.path ? ENDPOINT.mediaType : FORM_TYPE
  const bytes = Buffer.from(body).subarray(0, MAX_BODY_BYTES).toString('latin1')
  return toRequest(`POST ${path}`, [HOST, `Content-Type: ${type}`], bytes)
}

/** Writes a valid POST with a body of so many bytes, or as many as are accepted. */
export function toPlainPost(path: string, size = 0): string {
  return toPost(path, path === ENDPOINT.path ? VALID_JSON.padEnd(size) : VALID_FORM.padEnd(size, 'a'))
}

function fields(): fc.Arbitrary<HostileRequest> {
  const names = fc.oneof(
    fc.constantFrom('Accept', 'Accept-Encoding', 'Accept-Language', 'If-None-Match', 'Content-Type', 'Origin'),
    fc.constantFrom('If-Modified-Since', 'Range', 'Cookie', 'Forwarded', 'X-Forwarded-For', 'Referer', 'User-Agent'),
    fc.constantFrom('Access-Control-Request-Method', 'Access-Control-Request-Headers', 'Content-Encoding', 'TE'),
  )
  const lines = ['GET /', `GET ${DOCUMENTS.openApiJson.path}`, `OPTIONS ${ENDPOINT.path}`, `POST ${ENDPOINT.path}`]
  const starts = ['', 'text/markdown;', 'gzip;', 'en-', 'en-u-', 'zh-', '"', 'bytes=0-0', 'application/json']
  const pieces = [...',;="-/*%:.@<([ \t\xffaA0', 'en', 'de-', 'x-', 'W/"', 'q=1', ';q=0.1', '0-0']
  return fc.tuple(fc.constantFrom(...lines), names, shapes({ starts, pieces })).map(([line, name, shape]) => {
    const value = toText(shape, MAX_FIELD, 'latin1')
    const worst = toFields(line, name, value)
    return {
      name: `${line}, ${name}: ${JSON.stringify(shape)}`,
      worst,
      plain: toFields(line, 'X-Plain', 'a'.repeat(value.length)),
    }
  })
}

function hosts(): fc.Arbitrary<HostileRequest> {
  const pieces = [...'.:%@[]-aA09', 'xn--', '%cc%81', '%cc%96', '%41', '\xcc\x81']
  return shapes({ starts: ['', 'xn--', '[', 'example.org'], pieces }).map((shape) => {
    const host = toText(shape, MAX_FIELD, 'latin1')
    const line = `GET ${DOCUMENTS.openApiJson.path}`
    const plain = toFields(line, 'X-Plain', 'a'.repeat(host.length))
    return { name: `Host: ${JSON.stringify(shape)}`, worst: toRequest(line, [`Host: ${host}`]), plain }
  })
}

function targets(): fc.Arbitrary<HostileRequest> {
  const starts = ['/', '/?', '/DE?', '/nowhere', `${DOCUMENTS.openApiJson.path}?`, `${ENDPOINT.path}?`]
  const pieces = [...'/.?&=#\\;:@\'"<|{`+*~a%A\xe9', '/..', '%2e', '%2e%2e/', '%cc%81', '?subscribed']
  return shapes({ starts, pieces }).map((shape) => {
    const target = toText(shape, MAX_FIELD, 'latin1')
    const plain = toPlainPost(ENDPOINT.path, target.length)
    return { name: `target: ${JSON.stringify(shape)}`, worst: toRequest(`GET ${target}`, [HOST]), plain }
  })
}

/** JSON, most of it malformed. Without arrays in arrays, which cost the most: cost.test.ts has them. */
function jsonTexts(): fc.Arbitrary<HostileRequest> {
  const starts = ['', '{"email":', '{"email":"', '{"email":"a@example.org","a":', '[', '\ufeff']
  const pieces = [
    ...']{}:,"\\ \n10-.\ufeff',
    ...['{"a":', '"a":', '"email":', '[0,', '1e9,', '""', 'null,', '{},', '[],', '\\u0041', '"__proto__":{},'],
  ]
  return shapes({ starts, pieces }).map((shape) => toBodies(ENDPOINT.path, shape, toText(shape, MAX_BODY_BYTES)))
}

/** Text in the place of an address. */
function emails(): fc.Arbitrary<Shape> {
  return shapes({
    starts: ['', 'x@', 'x@a', 'x@\u00e9', 'x@xn--', '\u00e9@', 'x@example.org', '<', 'x@\u00e9.xn--9'],
    pieces: [
      ...'@.,;<>"\'& -_+%!a09\u00e9\u6f22\u0345\u3002\ufdfa\u00a0\u3000\u00ad\u200b\u200d\u202e\u05d0',
      ...['\u0301\u0316', '\u1100\u1161\u11a8', '\u0627\u0661', '\u{1f600}', 'xn--', 'xn--bcher-kva.', 'a@b,', '<a@b>'],
    ],
    ends: ['', '.org', '@b.org', '>', '!'],
  })
}

function jsonEmails(): fc.Arbitrary<HostileRequest> {
  return emails().map((shape) => {
    const email = toText(shape, MAX_BODY_BYTES - 100)
    return toBodies(ENDPOINT.path, shape, JSON.stringify({ email }))
  })
}

function formEmails(): fc.Arbitrary<HostileRequest> {
  return fc.tuple(emails(), fc.boolean()).map(([shape, isEncoded]) => {
    // Percent encoding makes three bytes of one.
    const text = toText(shape, (MAX_BODY_BYTES - 100) / (isEncoded ? 3 : 1))
    return toBodies('/', shape, `email=${isEncoded ? encodeURIComponent(text) : text}`)
  })
}

function formTexts(): fc.Arbitrary<HostileRequest> {
  const pieces = [...'&=%+;a<', 'email=', 'email=a&', '%65mail=', '%ff', '%00', '%zz', '%cc%81', '%3c']
  const starts = ['', 'email=', 'a=b&email=']
  return shapes({ starts, pieces }).map((shape) => toBodies('/', shape, toText(shape, MAX_BODY_BYTES)))
}

/** A valid body in small chunks, of at most 16 KiB with their framing. */
function chunks(): fc.Arbitrary<HostileRequest> {
  return fc.integer({ min: 1, max: 64 }).map((length) => {
    const count = Math.floor(MAX_BODY_BYTES / (length + 6))
    const body = VALID_JSON.padEnd(count * length)
    const framed = Array.from({ length: count }, (_, index) =>
      toChunk(body.slice(index * length, (index + 1) * length)),
    )
    const head = [HOST, `Content-Type: ${ENDPOINT.mediaType}`, 'Transfer-Encoding: chunked']
    const worst = `${toRequest(`POST ${ENDPOINT.path}`, head)}${framed.join('')}0\r\n\r\n`
    return { name: `chunks of ${length} bytes`, worst, plain: toPlainPost(ENDPOINT.path, worst.length) }
  })
}

interface Parts {
  readonly starts: readonly string[]
  readonly pieces: readonly string[]
  readonly ends?: readonly string[]
}

function shapes({ starts, pieces, ends = [''] }: Parts): fc.Arbitrary<Shape> {
  return fc.record({
    start: fc.constantFrom(...starts),
    pieces: fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 3 }),
    end: fc.constantFrom(...ends),
    isNumbered: fc.constantFrom(true, false, false, false),
    size: fc.oneof({ arbitrary: fc.constant(MAX_BODY_BYTES), weight: 2 }, fc.constantFrom(...LIMITS)),
  })
}

/** Writes a text of at most so many bytes. */
function toText(shape: Shape, maxBytes: number, encoding: 'utf8' | 'latin1' = 'utf8'): string {
  const { start, pieces, end, isNumbered, size } = shape
  const piece = pieces.join('')
  const room = Math.min(size, maxBytes) - Buffer.byteLength(start + end, encoding)
  const count = Math.max(1, Math.floor(room / (Buffer.byteLength(piece, encoding) + (isNumbered ? 3 : 0))))
  // Three bytes each: a number, or an ideograph among letters outside ASCII.
  const toNumber = NON_LATIN.test(piece)
    ? (index: number) => String.fromCharCode(0x4e00 + ((37 * index) % 20_000))
    : (index: number) => (index % 36 ** 3).toString(36).padStart(3, '0')
  return start + Array.from({ length: count }, (_, index) => piece + (isNumbered ? toNumber(index) : '')).join('') + end
}

const NON_LATIN = /[^\0-\xff]/

function toBodies(path: string, shape: Shape, body: string): HostileRequest {
  const plain = toPlainPost(path, Buffer.byteLength(body))
  return { name: `POST ${path}: ${JSON.stringify(shape)}`, worst: toPost(path, body), plain }
}

function toFields(line: string, name: string, value: string): string {
  const isPost = line.startsWith('POST')
  const type = isPost && name !== 'Content-Type' ? [`Content-Type: ${ENDPOINT.mediaType}`] : []
  return toRequest(line, [HOST, ...type, `${name}: ${value}`], isPost ? VALID_JSON : undefined)
}
