/**
 * Replays every example of the description: a real request provokes it, and the response is compared with the example, with
 * the literal contract, and with the headers that every response has.
 */

import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import pino from 'pino'
import { readConfig } from '../../src/config/config.ts'
import { createDescription } from '../../src/documents/openapi/description.ts'
import type { ErrorReason } from '../../src/errors.ts'
import { toLogged } from '../../src/failure.ts'
import { createApp } from '../../src/http/app.ts'
import { createBodyReader } from '../../src/http/body.ts'
import { createCors } from '../../src/http/cors.ts'
import { createHeaders, createJsonResponses } from '../../src/http/responses.ts'
import { listen } from '../../src/http/server.ts'
import { DOCUMENTS, ENDPOINT, MAX_BODY_BYTES, RESPONSES } from '../support/contract.ts'
import { toSupportFile } from '../support/paths.ts'
import { exchange, expectResponse, openConnection, type RawReply, toRequest } from '../support/raw.ts'
import { listAnswers, type Operation } from '../support/response-check.ts'
import { startService } from '../support/service.ts'

const HOST = 'Host: www.list.example'
const ALIAS = 'Host: list.example'
const ORIGIN = 'https://page.example'
const JSON_FIELD = `Content-Type: ${ENDPOINT.mediaType}`
const EMAIL = 'name@example.org'

// Created here and not in a hook, because the names of the tests come from it.
const env = {
  PORT: '0',
  BASE_URL: 'https://www.list.example',
  CORS_ORIGINS: ORIGIN,
  SITE_FILE: toSupportFile('site.yaml'),
}
const config = readConfig(env)
const description = createDescription(config)
/** Without the 429, which only a proxy sends: test/docs/deploy.test.ts compares it with the files for proxies. */
const answers = listAnswers(description).filter(({ status }) => status !== 429)

const [service, lockedService] = await Promise.all([startService({ env }), startService({ env })])
const failingService = startFailingService()
const lock = new Database(join(lockedService.folder, 'data/rollcall.db'))
lock.run('BEGIN IMMEDIATE')

afterAll(async () => {
  lock.close()
  await Promise.all([service.stop(), lockedService.stop(), failingService.stop()])
})

type Provocation = (operation: Operation) => Promise<RawReply | undefined>

const ask =
  (...headers: string[]): Provocation =>
  ({ method, path }) =>
    exchange(service.port, toRequest(`${method} ${path}`, headers))
const postText = (body: string, port = service.port) =>
  exchange(port, toRequest(`POST ${ENDPOINT.path}`, [HOST, JSON_FIELD], body))
const post =
  (body: unknown): Provocation =>
  () =>
    postText(JSON.stringify(body))

const REASONS: Readonly<Record<ErrorReason, Provocation>> = {
  missing: post({}),
  not_a_string: post({ email: [EMAIL] }),
  empty: post({ email: ' ' }),
  too_long: post({ email: `${'l'.repeat(65)}@example.org` }),
  display_name: post({ email: `Name <${EMAIL}>` }),
  several: post({ email: `${EMAIL}, other@example.org` }),
  invisible: () => postText('{"email":"name@example\\u200b.org"}'),
  non_ascii_domain: post({ email: 'name@b\u00FCcher.example' }),
  non_ascii: post({ email: 'n\u00E4me@example.org' }),
  malformed: post({ email: 'name' }),
  no_body: () => postText(''),
  malformed_json: () => postText('{"email":'),
  not_an_object: post([EMAIL]),
  slow_body: waitForDeadline,
  large_body: post({ email: ' '.repeat(MAX_BODY_BYTES) }),
  media_type: () =>
    exchange(service.port, toRequest(`POST ${ENDPOINT.path}`, [HOST, 'Content-Type: text/plain'], '{}')),
  two_media_types: () =>
    exchange(service.port, toRequest(`POST ${ENDPOINT.path}`, [HOST, JSON_FIELD, JSON_FIELD], '{}')),
  content_coding: () =>
    exchange(
      service.port,
      toRequest(`POST ${ENDPOINT.path}`, [HOST, JSON_FIELD, 'Content-Encoding: gzip'], '\x1f\x8b'),
    ),
  post_only: ({ method, path }) => ask(HOST)({ method: method === 'POST' ? 'GET' : method, path }),
  read_only: ({ path }) => ask(HOST)({ method: 'DELETE', path }),
  no_such_path: ({ method, path }) => ask(HOST)({ method, path: `${path}/` }),
  // Documents need no store, so only an unexpected error makes them fail.
  store_failed: (operation) =>
    operation.method === 'POST'
      ? postText(JSON.stringify({ email: EMAIL }), lockedService.port)
      : failingService.provoke(operation),
}

/** Provokes each example, by its name. */
const PROVOCATIONS: Readonly<Record<string, Provocation>> = {
  ...REASONS,
  accepted: post({ email: EMAIL }),
  // The one example of a document.
  example: ask(HOST),
  304: ask(HOST, 'If-None-Match: *'),
  moved: ask(ALIAS),
}

test('every example is provoked, and every provocation is used', () => {
  const names = answers.map(({ name }) => name)
  expect(Object.keys(PROVOCATIONS).sort()).toEqual([...new Set(names)].sort())
})

test('the service publishes the description whose examples these are', async () => {
  const { body } = await service.request(DOCUMENTS.openApiJson.path)
  expect(JSON.parse(body)).toEqual(JSON.parse(JSON.stringify(description)))
})

test.concurrent.each(answers)(
  '$method $path $status $name responds as in the example',
  async ({ name, status, value, ...operation }) => {
    const reply = await PROVOCATIONS[name]!(operation)
    expect(reply?.status).toBe(status)
    service.check({ ...operation, ...reply! })
    expectCommonHeaders(reply!, operation)
    const body = reply!.body.toString()
    if (name === 'example') expectDocument(body, value)
    else if (name === 'moved') expect(body).toContain(`<a href="${env.BASE_URL}${operation.path}">`)
    else expect(body).toBe(value === undefined ? '' : JSON.stringify(value))
    if (name in RESPONSES) expectResponse(reply!, name as keyof typeof RESPONSES)
    if (name === 'moved') expect(reply!.headers.get('location')).toBe(env.BASE_URL + operation.path)
  },
)

test('an unexpected error is logged with its stack', () => {
  expect(failingService.log()).not.toHaveLength(0)
  for (const { err } of failingService.log()) expect(err.stack).toMatch(/an unexpected error.*\n +at /s)
})

test('new and known addresses in any spelling get the same bytes', async () => {
  const replies: string[] = []
  for (const email of ['new@example.org', 'new@example.org', 'NEW@example.org', ' new@EXAMPLE.org ']) {
    for (const headers of [[JSON_FIELD], [JSON_FIELD, `Origin: ${ORIGIN}`], [JSON_FIELD, 'Connection: close']]) {
      const request = toRequest(`POST ${ENDPOINT.path}`, [HOST, ...headers], JSON.stringify({ email }))
      const reply = await exchange(service.port, request)
      replies.push(`${headers}\n${reply!.bytes.toString('latin1').replace(/^Date: .*\r\n/im, '')}`)
    }
  }
  expect(replies[0]).toContain('200 OK')
  expect(new Set(replies).size).toBe(3)
})

/** Starts the application with handlers that throw unexpected errors, which no request to the real service can provoke. */
function startFailingService() {
  const lines: string[] = []
  const fail = () => {
    throw new Error('an unexpected error')
  }
  const headers = createHeaders(config.baseUrl, '')
  const app = createApp({
    baseUrl: config.baseUrl,
    responses: createJsonResponses(headers.error),
    cors: createCors([], headers.endpoint),
    bodies: createBodyReader(),
    subscribe: async () => fail(),
    documents: new Map(Object.values(DOCUMENTS).map(({ path }) => [path, fail])),
    pages: new Map(),
    log: pino({ serializers: { err: toLogged } }, { write: (line) => void lines.push(line) }),
  })
  const server = listen(app, { port: 0, host: '127.0.0.1' })
  return {
    provoke: ({ method, path }: Operation) =>
      exchange(server.port, toRequest(`${method} ${path}`, ['Host: 127.0.0.1'])),
    log: (): { err: { stack: string } }[] => lines.map((line) => JSON.parse(line)),
    stop: () => server.stop(performance.now()),
  }
}

/** Expects the headers of every response, and none that says what the software is or that identifies a client. */
function expectCommonHeaders({ status, headers }: RawReply, { path }: Operation): void {
  const expected = {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'strict-transport-security': 'max-age=31536000',
    'cache-control': path !== ENDPOINT.path && [200, 304].includes(status) ? 'public, max-age=300' : 'no-store',
    server: null,
    'x-powered-by': null,
    'set-cookie': null,
  }
  expect(Object.fromEntries(Object.keys(expected).map((name) => [name, headers.get(name)]))).toEqual(expected)
}

/** Sends no body, and waits for the response. */
async function waitForDeadline({ method, path }: Operation): Promise<RawReply | undefined> {
  const connection = await openConnection(service.port)
  connection.send(toRequest(`${method} ${path}`, [HOST, JSON_FIELD, `Content-Length: ${MAX_BODY_BYTES}`]))
  const reply = await connection.receive()
  connection.close()
  return reply
}

/** Compares a document with its example, which has only the start: JSON without these members, otherwise the first line or tag. */
function expectDocument(body: string, example: unknown): void {
  if (typeof example === 'string') {
    expect(body).toStartWith(/^[^>\n]+/.exec(example)![0])
    return
  }
  const { paths, linkset, ...whole } = example as Record<string, unknown>
  expect(JSON.parse(body)).toMatchObject(whole)
}
