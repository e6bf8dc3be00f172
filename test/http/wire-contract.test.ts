/** The public contract in literal values (DESIGN section 2), so that a change of a table in src/ does not change what is expected. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SITEMAP_LIMITS } from '../../src/documents/sitemap.ts'
import { PROBLEMS } from '../../src/errors.ts'
import {
  BODY_DEADLINE_MS,
  MAX_ADDRESS_LENGTH,
  MAX_BODY_BYTES,
  MAX_LOCAL_PART_LENGTH,
  STORE_DEADLINE_MS,
} from '../../src/limits.ts'
import { exchange, toRequest } from '../support/raw.ts'
import { type RunningService, startService } from '../support/service.ts'

let service: RunningService
beforeAll(async () => {
  service = await startService({ env: { BASE_URL: 'https://list.example' } })
})
afterAll(async () => void (await service.stop('SIGKILL')))

/** Status, Allow, Content-Type and text of a response. */
async function send(line: string, fields: readonly string[] = [], body?: string) {
  const reply = await exchange(service.port, toRequest(line, ['Host: list.example', ...fields], body))
  if (!reply) throw new Error(`no response to ${line}`)
  const { status, headers } = reply
  return {
    status,
    allow: headers.get('allow'),
    type: headers.get('content-type'),
    text: reply.body.toString(),
  }
}

const post = (body?: string, type = 'application/json') =>
  send('POST /api/newsletter', [`Content-Type: ${type}`], body)

describe('errors', () => {
  test('each reason has its status and its code', () => {
    const pairs = Object.entries(PROBLEMS).map(([reason, { status, code }]) => [reason, `${status} ${code}`])
    expect(Object.fromEntries(pairs)).toEqual({
      missing: '400 invalid_email',
      not_a_string: '400 invalid_email',
      empty: '400 invalid_email',
      too_long: '400 invalid_email',
      display_name: '400 invalid_email',
      several: '400 invalid_email',
      non_ascii_domain: '400 invalid_email',
      non_ascii: '400 invalid_email',
      malformed: '400 invalid_email',
      no_body: '400 invalid_body',
      malformed_json: '400 invalid_body',
      not_an_object: '400 invalid_body',
      slow_body: '408 invalid_body',
      large_body: '413 invalid_body',
      media_type: '415 invalid_body',
      post_only: '405 method_not_allowed',
      read_only: '405 method_not_allowed',
      no_such_path: '404 not_found',
      store_failed: '500 storage_failure',
    })
  })

  test.each([
    ['an unknown path', () => send('GET /nowhere'), 404, 'not_found', null],
    ['a method of the endpoint', () => send('DELETE /api/newsletter'), 405, 'method_not_allowed', 'POST'],
    ['OPTIONS of the endpoint', () => send('OPTIONS /api/newsletter'), 405, 'method_not_allowed', 'POST'],
    ['a method of a document', () => send('POST /llms.txt', [], ''), 405, 'method_not_allowed', 'GET, HEAD'],
    ['no address', () => post('{}'), 400, 'invalid_email', null],
    ['no JSON', () => post('name@example.org'), 400, 'invalid_body', null],
    ['no body', () => post(''), 400, 'invalid_body', null],
    ['another media type', () => post('{}', 'text/plain'), 415, 'invalid_body', null],
    ['a body of 16 KiB and a byte', () => post('{}'.padEnd(16_385)), 413, 'invalid_body', null],
  ] as const)('%s', async (_, request, status, code, allow) => {
    const reply = await request()
    const { error, ...rest } = JSON.parse(reply.text)
    expect([reply.status, reply.allow, reply.type]).toEqual([status, allow, 'application/json'])
    expect(rest).toEqual({ ok: false, message: code })
    expect(error).toEqual({ code, message: expect.any(String), hint: expect.any(String) })
  })
})

test('a new and a known address, in a body of 16 KiB', async () => {
  const body = '{"email":"name@example.org"}'.padEnd(16_384)
  const accepted = { status: 200, allow: null, type: 'application/json', text: '{"ok":true}' }
  expect([await post(body), await post(body)]).toEqual([accepted, accepted])
})

test('the limits', () => {
  expect([MAX_ADDRESS_LENGTH, MAX_LOCAL_PART_LENGTH, MAX_BODY_BYTES]).toEqual([254, 64, 16_384])
  expect([BODY_DEADLINE_MS, STORE_DEADLINE_MS]).toEqual([10_000, 5_000])
  expect(SITEMAP_LIMITS).toEqual({ urls: 50_000, bytes: 52_428_800 })
})

describe('documents', () => {
  const DOCUMENTS = [
    ['/openapi.json', 'getOpenApiJson', 'application/json'],
    ['/openapi.yaml', 'getOpenApiYaml', 'text/yaml; charset=utf-8'],
    ['/llms.txt', 'getLlmstxt', 'text/markdown; charset=utf-8'],
    ['/sitemap.xml', 'getSitemap', 'application/xml'],
    ['/.well-known/oauth-protected-resource', 'getProtectedResourceMetadata', 'application/json'],
  ] as const

  test.each(DOCUMENTS)('%s is %s, %s', async (path, operationId, type) => {
    const reply = await send(`GET ${path}`)
    const { paths } = JSON.parse((await send('GET /openapi.json')).text)
    expect([reply.status, reply.type, paths[path].get.operationId]).toEqual([200, type, operationId])
  })

  test('the description', async () => {
    const { openapi, info, servers, paths } = JSON.parse((await send('GET /openapi.json')).text)
    expect([openapi, info.version, servers]).toEqual(['3.1.0', '1.0.0', [{ url: 'https://list.example' }]])
    expect(paths['/api/newsletter'].post.operationId).toBe('subscribeToNewsletter')
  })

  test('the protected resource', async () => {
    const { text } = await send('GET /.well-known/oauth-protected-resource')
    expect(JSON.parse(text)).toMatchObject({ resource: 'https://list.example', scopes_supported: [] })
  })
})
