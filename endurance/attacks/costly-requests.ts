/** Requests that are meant to cost the service far more than their sender: 16 KiB of the worst that a field or a body can hold. */

import { ENDPOINT } from '../rollcall.ts'

/** A request, with one part that is hostile and may be replaced by a plain one of its size. */
export type CostlyRequest =
  | { readonly name: string; readonly path: string; readonly field: string; readonly value: string }
  | { readonly name: string; readonly path: string; readonly mediaType: string; readonly body: string }

/** Bytes of a field that the runtime still takes, and of a body that the contract still takes. */
const FIELD = 15_000
const BODY = 16_000

const PAGE = '/'
const DOCUMENT = '/openapi.json'
const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'

const fill = (text: string, bytes: number) => text.repeat(Math.ceil(bytes / text.length)).slice(0, bytes)
const percent = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join('')

function field(path: string, name: string, part: string, start = ''): CostlyRequest {
  return { name: `${name}: ${start}${part} …`, path, field: name, value: fill(start + part, FIELD) }
}

/** `email` with a hostile text, as JSON and as a form. The part is repeated until the body is full. */
function email(name: string, part: string, start = '', end = ''): CostlyRequest[] {
  const size = Buffer.byteLength(part)
  const text = start + part.repeat(Math.floor((BODY - 100) / size)) + end
  const form = text.replace(/[%&+]/g, '.')
  return [
    { name: `${name}, as JSON`, path: ENDPOINT, mediaType: JSON_TYPE, body: JSON.stringify({ email: text }) },
    { name: `${name}, as a form`, path: PAGE, mediaType: FORM_TYPE, body: `email=${form}` },
  ]
}

export const COSTLY_REQUESTS: readonly CostlyRequest[] = [
  ...email('combining marks', '\u0301\u0316', 'x@a'),
  ...email('letters outside ASCII', '\u00e9', 'x@', '.org'),
  ...email('labels outside ASCII', '\u00e9.', 'x@', 'org'),
  ...email('Hangul', '\u1100\u1161\u11a8', 'x@', '.org'),
  ...email('ligatures', '\ufdfa', 'x@', '.org'),
  ...email('dots', 'a.'),
  ...email('at signs', '@'),
  ...email('angle brackets', '<a@b'),
  ...email('many addresses', 'a@b,'),
  ...email('blanks', ' ', 'x', 'x'),
  ...email('one label', 'a', 'a@', '!'),
  {
    name: 'nested arrays',
    path: ENDPOINT,
    mediaType: JSON_TYPE,
    body: fill('[', BODY / 2) + fill(']', BODY / 2),
  },
  { name: 'open objects', path: ENDPOINT, mediaType: JSON_TYPE, body: fill('{"a":', BODY) },
  { name: 'many members', path: ENDPOINT, mediaType: JSON_TYPE, body: toManyMembers() },
  {
    name: 'the same member',
    path: ENDPOINT,
    mediaType: JSON_TYPE,
    body: `{${fill('"email":"a@b.org",', BODY - 50)}"x":1}`,
  },
  { name: 'escapes', path: ENDPOINT, mediaType: JSON_TYPE, body: `{"email":"${fill('\\u0041', 15_996)}"}` },
  { name: 'a form of ampersands', path: PAGE, mediaType: FORM_TYPE, body: fill('&', BODY) },
  { name: 'a form of percent signs', path: PAGE, mediaType: FORM_TYPE, body: `email=${fill('%', BODY - 6)}` },
  {
    name: 'a form of escapes',
    path: PAGE,
    mediaType: FORM_TYPE,
    body: `email=${fill(percent('\u0301'), 15_900)}`,
  },
  { name: 'a form of many members', path: PAGE, mediaType: FORM_TYPE, body: fill('email=a&', BODY) },
  field(PAGE, 'Accept-Language', 'a-', 'en-'),
  field(PAGE, 'Accept-Language', 'abcdefgh-', 'en-x-'),
  field(PAGE, 'Accept-Language', 'de,'),
  field(PAGE, 'Accept-Language', 'x;q=0.1,'),
  field(PAGE, 'Accept-Language', 'u-co-aaa-', 'en-'),
  field(PAGE, 'Accept', 'text/markdown,'),
  field(PAGE, 'Accept', ';', 'text/markdown'),
  field(DOCUMENT, 'Accept-Encoding', 'a,'),
  field(DOCUMENT, 'Accept-Encoding', ';q=1', 'gzip'),
  field(DOCUMENT, 'Accept-Encoding', ' '),
  field(DOCUMENT, 'If-None-Match', '"'),
  field(DOCUMENT, 'If-None-Match', 'W/"a",'),
  field(DOCUMENT, 'If-None-Match', 'W/', '"a",'),
  field(ENDPOINT, 'Origin', 'a.', 'https://'),
  field(ENDPOINT, 'Content-Type', ' ', 'application/json'),
  field(ENDPOINT, 'Content-Type', ';a=b', 'application/json'),
  field(DOCUMENT, 'Host', 'a.'),
  field(DOCUMENT, 'Cookie', 'a=b;'),
  { name: 'a long query', path: `${DOCUMENT}?${fill('a=b&', FIELD)}`, field: 'X-Plain', value: 'a' },
  { name: 'a long path', path: fill('/a', FIELD), field: 'X-Plain', value: 'a' },
]

function toManyMembers(): string {
  const members = Array.from({ length: 1_400 }, (_, index) => `"${index.toString(36)}":${index % 10}`)
  return `{${members.join(',')}}`.slice(0, BODY)
}

/** Writes the request. */
export function toBytes(request: CostlyRequest): string {
  if ('body' in request) return toPost(request.path, request.mediaType, request.body)
  const isEndpoint = request.path === ENDPOINT
  const fields = [['Host', '127.0.0.1'], ...(isEndpoint ? [['Content-Type', JSON_TYPE]] : [])]
  const sent = [...fields.filter(([name]) => name !== request.field), [request.field, request.value]]
  const head = sent.map(([name, value]) => `${name}: ${value}`).join('\r\n')
  const body = '{"email":"costly@example.org"}'
  return isEndpoint
    ? `POST ${request.path} HTTP/1.1\r\n${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    : `GET ${request.path} HTTP/1.1\r\n${head}\r\n\r\n`
}

/** Writes a valid request of the same size to the same kind of resource. */
export function toPlainBytes(request: CostlyRequest): string {
  if (!('body' in request)) {
    const path = request.path.length > 100 ? DOCUMENT : request.path
    const value = fill('a', Math.max(request.value.length, request.path.length))
    return toBytes({ ...request, path, field: 'X-Plain', value })
  }
  const size = Buffer.byteLength(request.body)
  const isJson = request.mediaType === JSON_TYPE
  const start = isJson ? '{"email":"plain@example.org"}' : 'email=plain%40example.org&x='
  return toPost(request.path, request.mediaType, start.padEnd(size, isJson ? ' ' : 'a'))
}

function toPost(path: string, mediaType: string, text: string): string {
  const body = Buffer.from(text).toString('latin1')
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${mediaType}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}
