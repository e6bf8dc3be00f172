/** The security headers and Cache-Control of every kind of response. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { DOCUMENTS, ENDPOINT } from '../support/contract.ts'
import { toSupportFile } from '../support/paths.ts'
import { exchange, type RawReply, toRequest } from '../support/raw.ts'
import { type RunningService, startService } from '../support/service.ts'

const JSON_FIELD = `Content-Type: ${ENDPOINT.mediaType}`
const BODY = '{"email":"headers@example.org"}'
const ORIGIN = 'https://page.example'

/** A request for every status that needs neither a failing store nor waiting, with its Cache-Control. */
const REQUESTS: readonly (readonly [number, string, string, string | null])[] = [
  [200, 'an address', toRequest(`POST ${ENDPOINT.path}`, ['Host: a', JSON_FIELD], BODY), 'no-store'],
  [
    204,
    'a preflight',
    toRequest(`OPTIONS ${ENDPOINT.path}`, ['Host: a', `Origin: ${ORIGIN}`, 'Access-Control-Request-Method: POST']),
    'no-store',
  ],
  [
    308,
    'the other host, endpoint',
    toRequest(`POST ${ENDPOINT.path}`, ['Host: www.list.example', JSON_FIELD], BODY),
    'no-store',
  ],
  [400, 'an invalid address', toRequest(`POST ${ENDPOINT.path}`, ['Host: a', JSON_FIELD], '{}'), 'no-store'],
  [405, 'a wrong method', toRequest(`GET ${ENDPOINT.path}`, ['Host: a']), 'no-store'],
  [405, 'HEAD of the endpoint', toRequest(`HEAD ${ENDPOINT.path}`, ['Host: a']), 'no-store'],
  [
    413,
    'a large body',
    toRequest(`POST ${ENDPOINT.path}`, ['Host: a', JSON_FIELD, `Content-Length: ${10 ** 9}`]),
    'no-store',
  ],
  [415, 'a wrong media type', toRequest(`POST ${ENDPOINT.path}`, ['Host: a'], BODY), 'no-store'],
  [404, 'no such path', toRequest('GET /nowhere', ['Host: a']), 'no-store'],
  [308, 'the other host, no such path', toRequest('GET /nowhere', ['Host: www.list.example']), 'no-store'],
  [308, 'a page in another case', toRequest('GET /DE', ['Host: a']), 'no-store'],
  ...Object.values(DOCUMENTS).flatMap(({ path }) => documentRequests(path)),
]

function documentRequests(path: string) {
  return [
    [200, path, toRequest(`GET ${path}`, ['Host: a']), 'public, max-age=300'],
    [200, `HEAD ${path}`, toRequest(`HEAD ${path}`, ['Host: a']), 'public, max-age=300'],
    [200, `${path}, compressed`, toRequest(`GET ${path}`, ['Host: a', 'Accept-Encoding: br']), 'public, max-age=300'],
    [304, `${path}, known`, toRequest(`GET ${path}`, ['Host: a', 'If-None-Match: *']), 'public, max-age=300'],
    [405, `${path}, a wrong method`, toRequest(`DELETE ${path}`, ['Host: a']), 'no-store'],
    [308, `${path}, the other host`, toRequest(`GET ${path}`, ['Host: www.list.example']), 'no-store'],
  ] as const
}

const SITES = [
  { baseUrl: 'https://list.example', hsts: 'max-age=31536000' },
  { baseUrl: 'http://list.example', hsts: null },
]

describe.each(SITES)('$baseUrl', ({ baseUrl, hsts }) => {
  let service: RunningService

  beforeAll(async () => {
    service = await startService({
      env: { BASE_URL: baseUrl, CORS_ORIGINS: ORIGIN, SITE_FILE: toSupportFile('site.yaml') },
    })
  })
  afterAll(() => service.stop())

  test.each(REQUESTS)('%d: %s', async (status, _, request, cacheControl) => {
    const reply = (await exchange(service.port, request))!
    expect(reply.status).toBe(status)
    expect(toSecurityHeaders(reply)).toEqual({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'strict-transport-security': hsts,
      'cache-control': cacheControl,
    })
    // Neither the software nor anything that identifies a client.
    for (const name of ['server', 'x-powered-by', 'set-cookie']) expect(reply.headers.get(name)).toBeNull()
  })
})

function toSecurityHeaders({ headers }: RawReply) {
  const names = [
    'x-content-type-options',
    'referrer-policy',
    'content-security-policy',
    'strict-transport-security',
    'cache-control',
  ]
  return Object.fromEntries(names.map((name) => [name, headers.get(name)]))
}
