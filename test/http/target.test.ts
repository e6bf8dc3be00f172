/** Request targets and hosts: redirects to the canonical host, and what is served at any other host. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { DOCUMENTS, ENDPOINT } from '../support/contract.ts'
import { expectResponse } from '../support/endpoint.ts'
import { exchange, type RawReply, toRequest } from '../support/raw.ts'
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
  async function send(line: string, headers: readonly string[], body?: string): Promise<RawReply> {
    return checked(line, toRequest(line, headers, body))
  }

  async function checked(line: string, bytes: string): Promise<RawReply> {
    const [method = '', target = ''] = line.split(' ')
    const reply = await exchange(service.port, bytes)
    if (!reply) throw new Error(`${line} got no response`)
    service.check({ ...reply, method, path: target.replace(/^https?:\/\/[^/]*/, '') })
    return reply
  }

  const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']
  const PATHS = ['/', '/nowhere', ...Object.values(DOCUMENTS).map(({ path }) => path), ENDPOINT.path]

  test.each(METHODS)('%s at the alias redirects to the same path and query of the canonical host', async (method) => {
    for (const path of [...PATHS, '/?', '/a?b=c&d=%20?e', '/%E2%82%AC//%2F', '/a?u=https://evil.example/x']) {
      const reply = await send(`${method} ${path}`, [`Host: ${alias}`])
      expect([path, reply.status, reply.headers.get('location')]).toEqual([path, 308, baseUrl + path])
      expect(reply.body).toHaveLength(0)
    }
  })

  const ALIASES = [
    ['upper case', alias.toUpperCase()],
    ['a port', `${alias}:3000`],
    ['a trailing dot and a port', `${alias}.:443`],
    ['white space around it', `\t ${alias} \t`],
  ] as const

  test.each(ALIASES)('the alias with %s redirects', async (_, name) => {
    const reply = await send('GET /a?b', [`Host:${name}`])
    expect([reply.status, reply.headers.get('location')]).toEqual([308, `${baseUrl}/a?b`])
  })

  test('the redirect comes before the checks of media type and length', async () => {
    const headers = [`Host: ${alias}`, 'Content-Type: text/plain', `Content-Length: ${10 ** 9}`]
    const reply = await send(`POST ${ENDPOINT.path}`, headers)
    expect([reply.status, reply.headers.get('location')]).toEqual([308, baseUrl + ENDPOINT.path])
  })

  // The runtime resolves dot segments and turns backslashes into slashes, as the URL standard says.
  const TARGETS = [
    ['//evil.example/x', '//evil.example/x'],
    ['/\\evil.example/x', '//evil.example/x'],
    ['/@evil.example/', '/@evil.example/'],
    ['/:80@evil.example/', '/:80@evil.example/'],
    ['/a#b', '/a'],
    ['/%0d%0aSet-Cookie:a', '/%0d%0aSet-Cookie:a'],
    ['/\xc3\xa9', '/%C3%A9'],
    ['/a?\xff', '/a?%EF%BF%BD'],
    ['/../../x', '/x'],
    ['http://evil.example', '/'],
    ['http://evil.example/x?y', '/x?y'],
    ['http://user:pass@evil.example/x', '/x'],
    ['http://evil.example?x', '/?x'],
  ] as const

  test.each(TARGETS)('the redirect of %s stays on the canonical host', async (target, path) => {
    const reply = await send(`GET ${target}`, [`Host: ${alias}`])
    expect([reply.status, reply.headers.get('location')]).toEqual([308, baseUrl + path])
  })

  const OTHER_HOSTS = [
    ['the canonical host', host],
    ['the canonical host without its port', host.replace(/:.*/, '')],
    ['an IP address', '127.0.0.1'],
    ['an IPv6 address', '[::1]:3000'],
    ['another host', 'evil.example'],
    ['a subdomain of the alias', `x.${alias}`],
    ['a name that begins with the alias', `${alias}.evil.example`],
    ['nothing', ''],
    ['a path', `${alias}/x`],
    ['a fragment', `${alias}#x`],
    ['a user', `user@${alias}`],
    ['a user with a port', `${alias}:80@evil.example`],
    ['a port that is a word', `${alias}:http`],
    ['a port above 65535', `${alias}:99999`],
    ['two dots', `${alias}..`],
    ['a byte outside ASCII', 'list\xff.example'],
    ['a path to the endpoint', `${alias}${ENDPOINT.path}#`],
  ] as const

  test.each(OTHER_HOSTS)('a Host header that is %s is served without a redirect', async (_, name) => {
    const found = await send(`GET ${openApiJson.path}?a=b`, [`Host: ${name}`])
    expect(found.status).toBe(200)
    expect(found.body.equals(description)).toBe(true)
    const missing = await send('GET //evil.example/x', [`Host: ${name}`])
    expect([missing.status, missing.headers.get('location')]).toEqual([404, null])
    const body = '{"email":"host@example.org"}'
    const accepted = await send(`POST ${ENDPOINT.path}`, [`Host: ${name}`, JSON_FIELD], body)
    expect(accepted.status).toBe(200)
  })

  test('no byte of a target makes a redirect fail', async () => {
    for (let byte = 0x21; byte <= 0xff; byte++) {
      const character = String.fromCharCode(byte)
      for (const target of [`/${character}`, `/?${character}`, `/DE?${character}`]) {
        for (const name of [alias, `${alias}:99999`, 'a b']) {
          const reply = await exchange(service.port, toRequest(`GET ${target}`, [`Host: ${name}`]))
          expect([target, name, [200, 308, 404].includes(reply?.status ?? 0)]).toEqual([target, name, true])
          expect(reply?.headers.get('location') ?? '').toMatch(/^[\x21-\x7e]*$/)
        }
      }
    }
    expect(service.log().trim().split('\n')).toHaveLength(1)
  })

  test('the longest target makes no redirect fail', async () => {
    for (const [line, name] of [
      [`GET /?${'\xe9'.repeat(15_000)}`, alias],
      [`GET /DE?${'\xe9'.repeat(15_000)}`, 'a b'],
    ]) {
      const reply = await exchange(service.port, toRequest(line!, [`Host: ${name}`]))
      expect([reply?.status, reply?.headers.get('location')]).toEqual([
        308,
        expect.stringMatching(/\?(?:%[0-9A-F]{2})+$/),
      ])
    }
  })

  test('there is nothing at a Host header of more than 260 characters', async () => {
    const [longest, longer] = [260, 261].map((length) => `Host: ${'a.'.repeat(length / 2).padEnd(length, 'a')}`)
    const body = '{"email":"host@example.org"}'
    for (const line of [`GET ${openApiJson.path}`, `POST ${ENDPOINT.path}`]) {
      expect((await send(line, [longest!, JSON_FIELD], body)).status).toBe(200)
      expectResponse(await send(line, [longer!, JSON_FIELD], body), 'no_such_path')
    }
    expectResponse(await send('GET /', [`Host: ${alias}:${'0'.repeat(260)}`]), 'no_such_path')
  })

  // RFC 9112 section 3.2. The runtime joins them.
  test.each([
    ['the same', host, host],
    ['the alias first', alias, 'evil.example'],
    ['the alias second', 'evil.example', alias],
  ])('two Host headers get 400: %s', async (_, one, other) => {
    for (const line of ['GET /', 'GET /nowhere', `GET ${openApiJson.path}`, `POST ${ENDPOINT.path}`]) {
      const reply = await exchange(service.port, toRequest(line, [`Host: ${one}`, `Host: ${other}`]))
      expect([reply?.status, JSON.parse(String(reply?.body)).message]).toEqual([400, 'invalid_body'])
    }
  })

  test('HTTP/1.0 needs no Host header, and redirects when it names the alias', async () => {
    const found = await checked(`GET ${openApiJson.path}`, `GET ${openApiJson.path} HTTP/1.0\r\n\r\n`)
    expect([found.status, found.body.equals(description)]).toEqual([200, true])
    const body = '{"email":"old@example.org"}'
    const post = toRequest(`POST ${ENDPOINT.path}`, [JSON_FIELD], body).replace('HTTP/1.1', 'HTTP/1.0')
    expect((await checked(`POST ${ENDPOINT.path}`, post)).status).toBe(200)
    const moved = await checked('GET /a', `GET /a HTTP/1.0\r\nHost: ${alias}\r\n\r\n`)
    expect([moved.status, moved.headers.get('location')]).toEqual([308, `${baseUrl}/a`])
  })

  test('an absolute target is served by its path, with any host', async () => {
    for (const origin of ['http://evil.example', 'https://evil.example:99', `http://${alias}`]) {
      const reply = await send(`GET ${origin}${openApiJson.path}`, [`Host: ${host}`])
      expect([reply.status, reply.body.equals(description)]).toEqual([200, true])
      expect((await send(`GET ${origin}/nowhere`, ['Host: a b'])).status).toBe(404)
    }
  })
})
