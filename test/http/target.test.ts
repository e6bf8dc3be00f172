/** Request targets and hosts: redirects to the canonical host, and what is served at any other host. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { DOCUMENTS, ENDPOINT } from '../support/contract.ts'
import { exchange, expectResponse, type RawReply, toRequest } from '../support/raw.ts'
import { type RunningService, startService } from '../support/service.ts'

const { openApiJson } = DOCUMENTS
const JSON_FIELD = 'Content-Type: application/json'

/** Canonical origins with and without `www.`, each with its alias, which redirects to it. */
const SITES = [
  { baseUrl: 'https://www.list.example', alias: 'list.example', host: 'www.list.example' },
  { baseUrl: 'http://list.example:8080', alias: 'www.list.example', host: 'list.example:8080' },
]

describe.each(SITES)('$baseUrl', ({ baseUrl, alias, host }) => {
  let service: RunningService
  let description: Buffer

  beforeAll(async () => {
    service = await startService({ env: { BASE_URL: baseUrl } })
    description = (await send(`GET ${openApiJson.path}`, [`Host: ${host}`])).body
  })
  afterAll(() => service.stop())

  /** Sends a request, and checks the response against the description. */
  function send(line: string, headers: readonly string[], body?: string): Promise<RawReply> {
    return sendBytes(line, toRequest(line, headers, body))
  }

  async function sendBytes(line: string, bytes: string): Promise<RawReply> {
    const [method = '', target = ''] = line.split(' ')
    const reply = await exchange(service.port, bytes)
    if (!reply) throw new Error(`${line} got no response`)
    service.check({ ...reply, method, path: target.replace(/^https?:\/\/[^/]*/, '') })
    return reply
  }

  // Its target is a port of a host, and a redirect to the base URL with a port behind it would lead to another host.
  test('CONNECT is not redirected', async () => {
    for (const target of [`${alias}:443`, alias])
      expectResponse(
        (await exchange(service.port, toRequest(`CONNECT ${target}`, [`Host: ${alias}`])))!,
        'no_such_path',
      )
  })

  /** Expects a redirect to a path and query of the canonical host. */
  function expectMoved({ status, headers, body }: RawReply, path: string, hasNote = true): void {
    expect([status, headers.get('location')]).toEqual([308, baseUrl + path])
    // Some text browsers do not follow it.
    const link = Bun.escapeHTML(baseUrl + path)
    expect(body.toString()).toBe(
      hasNote ? `<!doctype html>\n<title>Moved</title>\n<p>This is at <a href="${link}">${link}</a>.</p>\n` : '',
    )
    // Otherwise a later switch of the canonical host could loop in browsers.
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.has('strict-transport-security')).toBe(baseUrl.startsWith('https:'))
  }

  const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']
  const PATHS = ['/', '/nowhere', ...Object.values(DOCUMENTS).map(({ path }) => path), ENDPOINT.path]

  test.each(METHODS)('%s at the alias redirects to the same path and query of the canonical host', async (method) => {
    for (const path of [...PATHS, '/?', '/a?b=c&d=%20?e', '/%E2%82%AC//%2F', '/a?u=https://evil.example/x', '/a?c&d']) {
      expectMoved(await send(`${method} ${path}`, [`Host: ${alias}`]), path, method !== 'HEAD')
    }
  })

  test.each([alias.toUpperCase(), `${alias}:3000`, `${alias}.:443`, `\t ${alias} \t`])(
    'the Host "%s" is the alias',
    async (name) => {
      expectMoved(await send('GET /a?b', [`Host:${name}`]), '/a?b')
    },
  )

  // The runtime resolves dot segments and turns backslashes into slashes, as the URL standard says.
  test.each([
    ['//evil.example/x', '//evil.example/x'],
    ['/\\evil.example/x', '//evil.example/x'],
    ['/@evil.example/', '/@evil.example/'],
    ['/a#b', '/a'],
    ['/%0d%0aSet-Cookie:a', '/%0d%0aSet-Cookie:a'],
    ['/\xc3\xa9', '/%C3%A9'],
    ['/a?\xff', '/a?%EF%BF%BD'],
    ['/../../x', '/x'],
    ['http://evil.example/x?y', '/x?y'],
    ['http://user:pass@evil.example/x', '/x'],
    ['http://evil.example?x', '/?x'],
  ])('the redirect of %s stays on the canonical host', async (target, path) => {
    expectMoved(await send(`GET ${target}`, [`Host: ${alias}`]), path)
  })

  test.each([
    host,
    host.replace(/:.*/, ''),
    '127.0.0.1',
    '[::1]:3000',
    'evil.example',
    `x.${alias}`,
    alias.replaceAll('.', '-'),
    `${alias}:65536`,
    `${alias}.evil.example`,
    '',
    `${alias}#x`,
    `${alias}:80@evil.example`,
    `${alias}:http`,
    'list\xff.example',
    `${alias}${ENDPOINT.path}#`,
    'a.'.repeat(130),
  ])('the Host "%s" is served without a redirect', async (name) => {
    const found = await send(`GET ${openApiJson.path}?a=b`, [`Host: ${name}`])
    expect([found.status, found.body.equals(description)]).toEqual([200, true])
    expectResponse(await send('GET //evil.example/x', [`Host: ${name}`]), 'no_such_path')
    const headers = [`Host: ${name}`, JSON_FIELD]
    expectResponse(await send(`POST ${ENDPOINT.path}`, headers, '{"email":"host@example.org"}'), 'accepted')
  })

  test('there is nothing at a Host header of more than 260 characters', async () => {
    for (const name of ['a.'.repeat(131), `${alias}:${'0'.repeat(260)}`]) {
      for (const line of ['GET /', `GET ${openApiJson.path}`, `POST ${ENDPOINT.path}`]) {
        expectResponse(await send(line, [`Host: ${name}`, JSON_FIELD], '{}'), 'no_such_path')
      }
    }
  })

  test('no byte of a target, and not the longest one, makes a redirect fail', async () => {
    const bytes = Array.from({ length: 0xff - 0x20 }, (_, index) => String.fromCharCode(0x21 + index))
    for (const text of [...bytes, '\xe9'.repeat(15_000)]) {
      const targets = [...(text.length === 1 ? [`/${text}`] : []), `/?${text}`, `/DE?${text}`]
      const pairs = targets.flatMap((target) => [alias, `${alias}:99999`, 'a b'].map((name) => [target, name] as const))
      const replies = pairs.map(([target, name]) =>
        exchange(service.port, toRequest(`GET ${target}`, [`Host: ${name}`])),
      )
      for (const [index, reply] of (await Promise.all(replies)).entries()) {
        expect([pairs[index], [200, 308, 404].includes(reply?.status ?? 0)]).toEqual([pairs[index], true])
        expect(reply?.headers.get('location') ?? '').toMatch(/^[\x21-\x7e]*$/)
      }
    }
    // A new list, and the start.
    expect(service.log().trim().split('\n').slice(2)).toEqual([])
  })

  // RFC 9112 section 3.2. The runtime joins them.
  test('two Host headers get 400', async () => {
    const reply = await exchange(service.port, toRequest('GET /', [`Host: ${alias}`, 'Host: evil.example']))
    expect([reply?.status, JSON.parse(String(reply?.body)).message]).toEqual([400, 'invalid_body'])
  })

  test('HTTP/1.0 needs no Host header, and redirects when it names the alias', async () => {
    const get = `GET ${openApiJson.path}`
    expect((await sendBytes(get, `${get} HTTP/1.0\r\n\r\n`)).body.equals(description)).toBe(true)
    const post = toRequest(`POST ${ENDPOINT.path}`, [JSON_FIELD], '{"email":"old@example.org"}')
    expectResponse(await sendBytes(`POST ${ENDPOINT.path}`, post.replace('HTTP/1.1', 'HTTP/1.0')), 'accepted')
    expectMoved(await sendBytes('GET /a', `GET /a HTTP/1.0\r\nHost: ${alias}\r\n\r\n`), '/a')
  })
})
