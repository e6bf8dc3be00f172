import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { parse } from 'yaml'
import { PROBLEMS, toErrorBody } from '../../src/errors.ts'
import { ALLOW, CACHE_CONTROL, CONTENT_CODINGS, DOCUMENTS } from '../../src/routes.ts'
import { toSupportFile } from '../support/paths.ts'
import { exchange, type RawReply, toRequest } from '../support/raw.ts'
import { type RunningService, startService } from '../support/service.ts'

const BASE_URL = 'https://www.list.example'
const DECODERS = { br: brotliDecompressSync, zstd: zstdDecompressSync, gzip: gunzipSync } as const

let service: RunningService

beforeAll(async () => {
  service = await startService({ env: { BASE_URL, SITE_FILE: toSupportFile('site.yaml') } })
})
afterAll(() => service.stop())

/** Sends a request, and holds the answer against the description. */
async function send(method: string, path: string, ...fields: string[]): Promise<RawReply> {
  const reply = await exchange(
    service.port,
    toRequest(`${method} ${path}`, ['Host: www.list.example', ...fields]),
  )
  if (!reply) throw new Error(`${method} ${path} was not answered`)
  service.check({ ...reply, method, path, body: decode(reply) })
  return reply
}

function decode({ headers, body }: RawReply): Buffer {
  const coding = headers.get('content-encoding') as keyof typeof DECODERS | null
  return coding && body.length > 0 ? DECODERS[coding](body) : body
}

/** What must be the same in a 200 and in its 304 (RFC 9110 section 15.4.5). */
const toKept = ({ headers }: RawReply) =>
  ['etag', 'cache-control', 'vary', 'access-control-allow-origin'].map((name) => headers.get(name))

describe.each(Object.values(DOCUMENTS))('$path', ({ path, mediaType }) => {
  test('is read by GET and by HEAD, whatever the query', async () => {
    const found = await send('GET', path)
    expect(found.status).toBe(200)
    expect(found.headers.get('content-type')).toBe(mediaType)
    expect(found.headers.get('etag')).toMatch(/^"[^"]+"$/)
    expect(found.headers.get('cache-control')).toBe(CACHE_CONTROL.document)
    expect(found.headers.get('access-control-allow-origin')).toBe('*')
    expect(found.headers.get('vary')).toContain('Accept-Encoding')
    expect(found.body.length).toBeGreaterThan(0)
    expect((await send('GET', `${path}?a=b`)).body.equals(found.body)).toBe(true)

    const head = await send('HEAD', path)
    expect(head.status).toBe(200)
    expect(toFields(head)).toEqual(toFields(found))
  })

  test.each([...CONTENT_CODINGS])('in %s is the same document under a tag of its own', async (coding) => {
    const plain = await send('GET', path)
    const encoded = await send('GET', path, `Accept-Encoding: ${coding}`)
    expect([plain.status, encoded.status]).toEqual([200, 200])
    expect(decode(encoded).equals(plain.body)).toBe(true)
    // A coding that makes a short document longer is not used.
    const isUsed = encoded.headers.get('content-encoding') === coding
    expect(encoded.headers.get('etag') !== plain.headers.get('etag')).toBe(isUsed)
    expect(encoded.body.length < plain.body.length).toBe(isUsed)
    expect(isUsed || plain.body.length < 500).toBe(true)
    expect(toFields(await send('HEAD', path, `Accept-Encoding: ${coding}`))).toEqual(toFields(encoded))
  })

  test('is not sent again to whoever has it', async () => {
    for (const coding of ['identity', ...CONTENT_CODINGS]) {
      const accept = `Accept-Encoding: ${coding}`
      const found = await send('GET', path, accept)
      const tag = found.headers.get('etag')
      for (const known of [tag, `W/${tag}`, `"x", ${tag}`, `W/"x",W/${tag} , "y"`, '*']) {
        for (const method of ['GET', 'HEAD']) {
          const reply = await send(method, path, accept, `If-None-Match: ${known}`)
          expect([known, reply.status, reply.headers.get('content-type')]).toEqual([known, 304, null])
          expect(toKept(reply)).toEqual(toKept(found))
        }
      }
      for (const other of ['"x"', 'W/"x"', '""', 'x', tag!.slice(1, -1), `"${tag}`]) {
        const reply = await send('GET', path, accept, `If-None-Match: ${other}`)
        expect([other, reply.status]).toEqual([other, 200])
      }
    }
  })

  test('in one coding is another thing than in another', async () => {
    const tags = new Map<string, string>()
    for (const coding of ['identity', ...CONTENT_CODINGS]) {
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

  test('takes no other method', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
      const reply = await send(method, path, 'If-None-Match: *')
      expect([reply.status, reply.headers.get('allow')]).toEqual([405, ALLOW.read_only])
      expect(JSON.parse(reply.body.toString())).toEqual(toErrorBody(PROBLEMS.read_only))
      expect([reply.headers.get('etag'), reply.headers.get('cache-control')]).toEqual([null, 'no-store'])
    }
  })

  test('is at no other path', async () => {
    for (const other of [
      `${path}/`,
      `${path}%20`,
      `/${path}`,
      path.toUpperCase(),
      `${path};a=b`,
      `${path}%3Fa`,
    ]) {
      expect([other, (await send('GET', other)).status]).toEqual([other, 404])
    }
  })
})

describe('Accept-Encoding', () => {
  const CASES = [
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1.0, br;q=0.5, *;q=0', 'gzip'],
    ['br;q=0, *', 'zstd'],
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

  test('in two fields is one list', async () => {
    const fields = ['Accept-Encoding: gzip;q=0.5', 'Accept-Encoding: zstd']
    const reply = await send('GET', DOCUMENTS.openApiJson.path, ...fields)
    expect(reply.headers.get('content-encoding')).toBe('zstd')
  })

  test('is understood in more spellings than are remembered', async () => {
    for (let index = 0; index < 200; index++) {
      const field = `Accept-Encoding: x-${index}, gzip`
      const reply = await send('GET', DOCUMENTS.openApiJson.path, field)
      expect(reply.headers.get('content-encoding')).toBe('gzip')
    }
  })
})

describe('what the documents say', () => {
  test('the description is the same in YAML and in JSON, and is that of BASE_URL', async () => {
    const description = JSON.parse((await send('GET', DOCUMENTS.openApiJson.path)).body.toString())
    expect(description.openapi).toBe('3.1.0')
    expect(description.info.version).toBe('1.0.0')
    expect(description.servers).toEqual([{ url: BASE_URL }])
    const yaml = (await send('GET', DOCUMENTS.openApiYaml.path)).body.toString()
    expect(parse(yaml)).toEqual(description)
  })

  test('the protected resource is BASE_URL to the letter, with an empty list of scopes', async () => {
    const metadata = JSON.parse((await send('GET', DOCUMENTS.protectedResource.path)).body.toString())
    expect(metadata).toEqual({
      resource: BASE_URL,
      resource_name: 'Newsletter',
      resource_documentation: `${BASE_URL}/llms.txt`,
      scopes_supported: [],
    })
  })

  test('every document names its site by BASE_URL, and nothing by where it runs', async () => {
    for (const { path } of Object.values(DOCUMENTS)) {
      const text = (await send('GET', path)).body.toString()
      expect([path, text.includes(BASE_URL)]).toEqual([path, true])
      expect(text).not.toContain('127.0.0.1')
    }
  })
})

/** The fields of an answer, the date aside. */
function toFields({ headers }: RawReply): [string, string][] {
  return [...headers].filter(([name]) => name !== 'date')
}
