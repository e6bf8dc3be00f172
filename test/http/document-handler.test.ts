/** The read-only resources: methods, headers, encodings and conditional requests. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { parse } from 'yaml'
import { createDocumentHandler } from '../../src/http/document-handler.ts'
import { DOCUMENTS } from '../support/contract.ts'
import { expectResponse } from '../support/endpoint.ts'
import { toSupportFile } from '../support/paths.ts'
import { exchange, type RawReply, toRequest } from '../support/raw.ts'
import { type RunningService, startService } from '../support/service.ts'

const BASE_URL = 'https://www.list.example'
const DECODERS = { br: brotliDecompressSync, gzip: gunzipSync } as const
const CODINGS = ['br', 'gzip'] as const

let service: RunningService

beforeAll(async () => {
  service = await startService({ env: { BASE_URL, SITE_FILE: toSupportFile('site.yaml') } })
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

/** Picks the headers that a 304 must share with its 200 (RFC 9110 section 15.4.5). */
const toSharedHeaders = ({ headers }: RawReply) =>
  ['etag', 'cache-control', 'vary', 'access-control-allow-origin'].map((name) => headers.get(name))

describe.each(Object.values(DOCUMENTS))('$path', ({ path, mediaType }) => {
  test('responds to GET and HEAD with any query', async () => {
    const found = await send('GET', path)
    expect(found.status).toBe(200)
    expect(found.headers.get('content-type')).toBe(mediaType)
    expect(found.headers.get('etag')).toMatch(/^"[^"]+"$/)
    expect(found.headers.get('cache-control')).toBe('public, max-age=300')
    expect(found.headers.get('access-control-allow-origin')).toBe('*')
    expect(found.headers.get('vary')).toContain('Accept-Encoding')
    expect(found.body.length).toBeGreaterThan(0)
    expect((await send('GET', `${path}?a=b`)).body.equals(found.body)).toBe(true)

    const head = await send('HEAD', path)
    expect(head.status).toBe(200)
    expect(toHeaders(head)).toEqual(toHeaders(found))
  })

  test.each(CODINGS)('has the same content in %s, with another ETag', async (coding) => {
    const plain = await send('GET', path)
    const encoded = await send('GET', path, `Accept-Encoding: ${coding}`)
    expect([plain.status, encoded.status]).toEqual([200, 200])
    expect(decode(encoded).equals(plain.body)).toBe(true)
    // Compression may make a short document longer. Then it is not used.
    const isUsed = encoded.headers.get('content-encoding') === coding
    expect(encoded.headers.get('etag') !== plain.headers.get('etag')).toBe(isUsed)
    expect(encoded.body.length < plain.body.length).toBe(isUsed)
    expect(isUsed || plain.body.length < 500).toBe(true)
    expect(toHeaders(await send('HEAD', path, `Accept-Encoding: ${coding}`))).toEqual(toHeaders(encoded))
  })

  test('is not sent again to a client that has it', async () => {
    for (const coding of ['identity', ...CODINGS]) {
      const accept = `Accept-Encoding: ${coding}`
      const found = await send('GET', path, accept)
      const tag = found.headers.get('etag')
      for (const known of [tag, `W/${tag}`, `"x", ${tag}`, `W/"x",W/${tag} , "y"`, '*']) {
        for (const method of ['GET', 'HEAD']) {
          const reply = await send(method, path, accept, `If-None-Match: ${known}`)
          expect([known, reply.status, reply.headers.get('content-type')]).toEqual([known, 304, null])
          expect(toSharedHeaders(reply)).toEqual(toSharedHeaders(found))
        }
      }
      for (const other of ['"x"', 'W/"x"', '""', 'x', tag!.slice(1, -1), `"${tag}`]) {
        const reply = await send('GET', path, accept, `If-None-Match: ${other}`)
        expect([other, reply.status]).toEqual([other, 200])
      }
    }
  })

  test('has a different ETag in each encoding', async () => {
    const tags = new Map<string, string>()
    for (const coding of ['identity', ...CODINGS]) {
      const { headers } = await send('GET', path, `Accept-Encoding: ${coding}`)
      tags.set(coding, headers.get('etag')!)
    }
    for (const [coding, tag] of tags) {
      for (const known of tags.values()) {
        const reply = await send('GET', path, `Accept-Encoding: ${coding}`, `If-None-Match: ${known}`)
        expect(reply.status).toBe(known === tag ? 304 : 200)
      }
    }
  })

  test('refuses other methods', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
      const reply = await send(method, path, 'If-None-Match: *')
      expectResponse(reply, 'read_only')
      expect(reply.headers.get('etag')).toBeNull()
    }
  })

  test('is at no other path, such as one in another case', async () => {
    for (const other of [`${path}/`, `${path}%20`, `/${path}`, path.toUpperCase(), `${path};a=b`, `${path}%3Fa`]) {
      expectResponse(await send('GET', other), 'no_such_path')
    }
  })
})

describe('Accept-Encoding', () => {
  const CASES = [
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1.0, br;q=0.5, *;q=0', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['identity;q=0', null],
    ['identity;q=0, gzip', 'gzip'],
    ['identity, gzip;q=0.5', null],
    ['*;q=0', null],
    ['', null],
  ] as const

  test.each(CASES.map((row) => [...row] as const))('"%s": %p', async (field, coding) => {
    const reply = await send('GET', DOCUMENTS.openApiJson.path, `Accept-Encoding: ${field}`)
    expect([reply.status, reply.headers.get('content-encoding')]).toEqual([200, coding])
  })

  test('in two headers is one list', async () => {
    const headers = ['Accept-Encoding: gzip;q=0.5', 'Accept-Encoding: br']
    const reply = await send('GET', DOCUMENTS.openApiJson.path, ...headers)
    expect(reply.headers.get('content-encoding')).toBe('br')
  })

  test('works with more different values than are cached', async () => {
    for (let index = 0; index < 200; index++) {
      const field = `Accept-Encoding: x-${index}, gzip`
      const reply = await send('GET', DOCUMENTS.openApiJson.path, field)
      expect(reply.headers.get('content-encoding')).toBe('gzip')
    }
  })
})

test('choices for long Accept-Encoding values are not cached', async () => {
  const document = { path: '/', mediaType: 'text/plain', body: 'text'.repeat(100) }
  const handlers = Array.from({ length: 20 }, () => createDocumentHandler(document, {}))
  const before = readHeapSize()
  for (const [index, handle] of handlers.entries()) {
    for (let value = 0; value < 64; value++) {
      const headers = { 'Accept-Encoding': `x-${index}-${value}`.padEnd(15_000, ',') }
      await handle(new Request('http://localhost/', { headers }))
    }
  }
  // Cached, the values are 19 MB.
  expect(readHeapSize() - before).toBeLessThan(5e6)
})

function readHeapSize(): number {
  Bun.gc(true)
  return process.memoryUsage().heapUsed
}

describe('the content', () => {
  test('of the description is the same in YAML and JSON, for BASE_URL', async () => {
    const description = JSON.parse((await send('GET', DOCUMENTS.openApiJson.path)).body.toString())
    expect(description.openapi).toBe('3.1.0')
    expect(description.info.version).toBe('1.0.0')
    expect(description.servers).toEqual([{ url: BASE_URL }])
    const yaml = (await send('GET', DOCUMENTS.openApiYaml.path)).body.toString()
    expect(parse(yaml)).toEqual(description)
  })

  test('of the protected-resource metadata has exactly BASE_URL, and no scopes', async () => {
    const metadata = JSON.parse((await send('GET', DOCUMENTS.protectedResource.path)).body.toString())
    expect(metadata).toEqual({
      resource: BASE_URL,
      resource_name: 'Newsletter',
      resource_documentation: `${BASE_URL}/llms.txt`,
      scopes_supported: [],
    })
  })

  test('of every document names BASE_URL, and never the address that the service listens on', async () => {
    for (const { path } of Object.values(DOCUMENTS)) {
      const text = (await send('GET', path)).body.toString()
      expect([path, text.includes(BASE_URL)]).toEqual([path, true])
      expect(text).not.toContain('127.0.0.1')
    }
  })
})

/** Returns the headers of a response without Date. */
function toHeaders({ headers }: RawReply): [string, string][] {
  return [...headers].filter(([name]) => name !== 'date')
}

test('a document is built once, at its first request, and again after a failure', async () => {
  const built: number[] = []
  function body(): string {
    built.push(built.length)
    if (built.length === 1) throw new Error('a file cannot be read')
    return 'text'
  }
  const handle = createDocumentHandler({ path: '/x', mediaType: 'text/plain', body }, {})
  const send = async () => (await handle(new Request('http://localhost/x'))).text()
  expect(built).toEqual([])
  await expect(send()).rejects.toThrow('a file cannot be read')
  expect(await Promise.all([send(), send()])).toEqual(['text', 'text'])
  expect(await send()).toBe('text')
  expect(built).toEqual([0, 1])
})
