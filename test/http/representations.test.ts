/** The read-only resources: methods, headers, encodings and conditional requests, and how header values are read. */

import { afterAll, describe, expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { chooseCoding, createDocumentHandler, matchesEtag, prefersMarkdown } from '../../src/http/representations.ts'
import { MAX_LIST_FIELD_LENGTH } from '../../src/limits.ts'
import { DOCUMENTS } from '../support/contract.ts'
import { toSupportFile } from '../support/paths.ts'
import { exchange, expectResponse, type RawReply, toRequest } from '../support/raw.ts'
import { startService } from '../support/service.ts'

const DECODERS = { br: brotliDecompressSync, gzip: gunzipSync } as const
const CODINGS = ['br', 'gzip'] as const

const service = await startService({
  env: { BASE_URL: 'https://www.list.example', SITE_FILE: toSupportFile('site.yaml') },
})
afterAll(() => service.stop())

/** Sends a request, and checks the response against the description. */
async function send(method: string, path: string, ...headers: string[]): Promise<RawReply> {
  const reply = await exchange(service.port, toRequest(`${method} ${path}`, ['Host: www.list.example', ...headers]))
  if (!reply) throw new Error(`${method} ${path} got no response`)
  service.check({ ...reply, method, path, body: decode(reply) })
  return reply
}

function decode({ headers, body }: RawReply): Buffer {
  const coding = headers.get('content-encoding') as keyof typeof DECODERS | null
  return coding && body.length > 0 ? DECODERS[coding](body) : body
}

/** Returns the headers of a response without Date. */
function toHeaders({ headers }: RawReply): [string, string][] {
  return [...headers].filter(([name]) => name !== 'date')
}

/** Picks the headers that a 304 must share with its 200 (RFC 9110 section 15.4.5). */
const toSharedHeaders = ({ headers }: RawReply) =>
  ['etag', 'cache-control', 'vary', 'access-control-allow-origin'].map((name) => headers.get(name))

describe.each(Object.values(DOCUMENTS))('$path', ({ path, mediaType }) => {
  test('responds to GET and HEAD with any query', async () => {
    const found = await send('GET', path)
    expect([found.status, found.headers.get('content-type')]).toEqual([200, mediaType])
    expect(found.headers.get('etag')).toMatch(/^"[^"]+"$/)
    expect(found.headers.get('cache-control')).toBe('public, max-age=300')
    expect(found.headers.get('access-control-allow-origin')).toBe('*')
    expect(found.headers.get('vary')).toContain('Accept-Encoding')
    expect(found.body.length).toBeGreaterThan(0)
    expect((await send('GET', `${path}?a=b`)).body.equals(found.body)).toBe(true)
    const head = await send('HEAD', path)
    expect([head.status, toHeaders(head)]).toEqual([200, toHeaders(found)])
  })

  test.each(CODINGS)('has the same content in %s, with another ETag', async (coding) => {
    const plain = await send('GET', path)
    const encoded = await send('GET', path, `Accept-Encoding: ${coding}`)
    expect(decode(encoded).equals(plain.body)).toBe(true)
    // Compression may make a short document longer. Then it is not used.
    const isUsed = encoded.headers.get('content-encoding') === coding
    expect(encoded.headers.get('etag') !== plain.headers.get('etag')).toBe(isUsed)
    expect(encoded.body.length < plain.body.length).toBe(isUsed)
    expect(isUsed || plain.body.length < 500).toBe(true)
    expect(toHeaders(await send('HEAD', path, `Accept-Encoding: ${coding}`))).toEqual(toHeaders(encoded))
  })

  test('is not sent again to a client that has it in the same encoding', async () => {
    const plain = (await send('GET', path)).headers.get('etag')
    for (const coding of ['identity', ...CODINGS]) {
      const accept = `Accept-Encoding: ${coding}`
      const found = await send('GET', path, accept)
      const tag = found.headers.get('etag')
      for (const method of ['GET', 'HEAD']) {
        const reply = await send(method, path, accept, `If-None-Match: "x", W/${tag}`)
        expect([reply.status, reply.headers.get('content-type')]).toEqual([304, null])
        expect(toSharedHeaders(reply)).toEqual(toSharedHeaders(found))
      }
      expect((await send('GET', path, accept, 'If-None-Match: "x"')).status).toBe(200)
      if (tag !== plain) expect((await send('GET', path, accept, `If-None-Match: ${plain}`)).status).toBe(200)
    }
  })

  test('refuses other methods', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
      expectResponse(await send(method, path, 'If-None-Match: *'), 'read_only')
    }
  })
})

test('a document is built once, at its first request', async () => {
  let built = 0
  const body = () => `text ${++built}`
  const handle = createDocumentHandler({ path: '/x', mediaType: 'text/plain', body }, {})
  const ask = async () => (await handle(new Request('http://localhost/x'))).text()
  expect(built).toBe(0)
  expect(await Promise.all([ask(), ask()])).toEqual(['text 1', 'text 1'])
  expect(await ask()).toBe('text 1')
})

test.each([
  [null, undefined, 'no header means any coding'],
  ['GZip', 'gzip', 'case is ignored'],
  ['gzip, deflate, br, zstd', 'br', 'of equal weights, the one that the server prefers'],
  ['br ; q = 0.2 , gzip;Q=0.3', 'gzip', 'the one with the highest weight'],
  ['br;q=0.000, gzip', 'gzip', 'one is forbidden'],
  ['identity, gzip;q=0.5', undefined, 'no coding has more weight'],
  ['identity;q=0, *', 'br', 'no coding is forbidden, any other is allowed'],
  // RFC 9110 section 12.5.3 allows a server to ignore a header that it cannot satisfy.
  ['identity;q=0, *;q=0', undefined, 'nothing is allowed'],
  ['gzip;q=x, br;q=0.9', 'gzip', 'an invalid weight counts as 1'],
])('chooseCoding(%p) is %p: %s', (field, coding) => {
  expect(chooseCoding(field, CODINGS)).toBe(coding as 'gzip')
})

test.each([
  [null, false, 'no header'],
  ['Text/Markdown; charset=utf-8', true, 'case and parameters are ignored'],
  ['text/html, text/markdown, */*', true, 'the weight of HTML'],
  ['text/markdown;q=0.5, text/html', false, 'less weight than HTML'],
  ['text/markdown;q=0.5, */*', false, 'less weight than any type'],
])('prefersMarkdown(%p) is %p: %s', (field, expected) => {
  expect(prefersMarkdown(field)).toBe(expected)
})

test.each([
  ['Accept-Encoding', 'gzip', (field: string) => chooseCoding(field, CODINGS) === 'gzip'],
  ['Accept', 'text/markdown', prefersMarkdown],
  ['If-None-Match', '"a"', (field: string) => matchesEtag(field, '"a"')],
] as const)('%s counts as missing above its maximum length', (_, value, isUsed) => {
  expect(isUsed(value.padEnd(MAX_LIST_FIELD_LENGTH))).toBe(true)
  expect(isUsed(value.padEnd(MAX_LIST_FIELD_LENGTH + 1))).toBe(false)
})

test('a document that could not be built is built by the next request, and then kept', async () => {
  let attempts = 0
  const body = async () => {
    if (++attempts === 1) throw new Error('no memory')
    return 'content'
  }
  const handle = createDocumentHandler({ path: '/card.png', mediaType: 'image/png', body }, {})
  const request = new Request('http://list.example/card.png')
  expect(async () => handle(request)).toThrow('no memory')
  for (let count = 0; count < 2; count++) expect(await (await handle(request)).text()).toBe('content')
  expect(attempts).toBe(2)
})
