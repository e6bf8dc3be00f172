/** The pages over HTTP: their headers, and what they refuse. test/page checks their content. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { toChunk } from '../support/endpoint.ts'
import { readList } from '../support/list-file.ts'
import { exchange, type RawReply, toRequest } from '../support/raw.ts'
import { type RunningService, startService } from '../support/service.ts'

const HOST = 'Host: 127.0.0.1'
const FORM = 'Content-Type: application/x-www-form-urlencoded'

let service: RunningService
beforeAll(async () => {
  service = await startService({ site: 'languages: [en, de]' })
})
afterAll(() => service.stop())

async function send(line: string, headers: readonly string[] = [], body?: string): Promise<RawReply> {
  const reply = await exchange(service.port, toRequest(line, [HOST, ...headers], body))
  if (!reply) throw new Error(`${line} got no response`)
  return reply
}

const pick = ({ headers }: RawReply, ...names: string[]) => names.map((name) => headers.get(name))

test('a page has its media type, caching, language and content security policy', async () => {
  for (const [path, language] of [
    ['/', 'en'],
    ['/de', 'de'],
  ] as const) {
    for (const method of ['GET', 'HEAD']) {
      const reply = await send(`${method} ${path}`)
      expect(reply.status).toBe(200)
      expect(pick(reply, 'content-type', 'cache-control', 'content-language')).toEqual([
        'text/html; charset=utf-8',
        'public, max-age=300',
        language,
      ])
      expect(pick(reply, 'content-security-policy')).toEqual([
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
      ])
    }
  }
})

test('a method other than GET, HEAD and POST gets 405', async () => {
  for (const line of ['PUT /', 'DELETE /de', 'OPTIONS /', 'PATCH /de']) {
    const reply = await send(line)
    expect([reply.status, ...pick(reply, 'allow', 'content-type')]).toEqual([
      405,
      'GET, HEAD, POST',
      'application/json',
    ])
    expect(reply.body.toString()).toBe(
      '{"ok":false,"message":"method_not_allowed","error":{"code":"method_not_allowed","message":"This path is a page with a form.","hint":"Use GET or HEAD, or POST to send the form."}}',
    )
  }
})

test('a POST that is not a form gets 415', async () => {
  for (const headers of [[], ['Content-Type: application/json'], ['Content-Type: multipart/form-data']]) {
    const reply = await send('POST /', headers, '{"email":"json@example.org"}')
    expect([reply.status, ...pick(reply, 'content-type', 'cache-control')]).toEqual([
      415,
      'application/json',
      'no-store',
    ])
    expect(reply.body.toString()).toBe(
      '{"ok":false,"message":"invalid_body","error":{"code":"invalid_body","message":"The media type of the body is not that of an HTML form.","hint":"To use the API, send JSON to the path in /openapi.json. To send the form, use application/x-www-form-urlencoded."}}',
    )
  }
})

test('a form over 16 KiB gets 413', async () => {
  const body = `email=${'x'.repeat(16 * 1024)}`
  const chunked = `${toChunk(body)}0\r\n\r\n`
  const declared = await send('POST /de', [FORM], body)
  const streamed = await exchange(
    service.port,
    toRequest('POST /de', [HOST, FORM, 'Transfer-Encoding: chunked']) + chunked,
  )
  for (const reply of [declared, streamed!]) {
    expect([reply.status, ...pick(reply, 'cache-control', 'content-language')]).toEqual([413, 'no-store', 'de'])
  }
})

test('an accepted form gets the confirmation in its language', async () => {
  const reply = await send('POST /de', [`${FORM};charset=utf-8`], 'email=form%40example.org')
  expect([reply.status, ...pick(reply, 'content-language', 'cache-control')]).toEqual([200, 'de', 'no-store'])
  expect(await readList(service.folder)).toEqual(['form@example.org'])
})

test('other spellings of a path redirect to it with 308, and keep the query', async () => {
  for (const [from, to] of [
    ['/en', '/'],
    ['/EN?a=b', '/?a=b'],
    ['/De', '/de'],
  ] as const) {
    for (const method of ['GET', 'POST', 'PUT']) {
      const reply = await send(`${method} ${from}`)
      expect([reply.status, ...pick(reply, 'location')]).toEqual([308, to])
    }
  }
})
