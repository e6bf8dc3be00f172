import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { readConfig } from '../../src/config/config.ts'
import { createDescription } from '../../src/documents/openapi/description.ts'
import type { ErrorReason } from '../../src/errors.ts'
import { MAX_BODY_BYTES } from '../../src/limits.ts'
import { DOCUMENTS, ENDPOINT } from '../../src/routes.ts'
import { listAnswers, listRequests, type Operation } from '../support/examples.ts'
import { toSupportFile } from '../support/paths.ts'
import { exchange, openConnection, type RawReply, toRequest } from '../support/raw.ts'
import { type RunningService, runCommand, startService } from '../support/service.ts'
import { type FailingService, startFailingService } from '../support/unforeseen.ts'

const HOST = 'Host: www.list.example'
const ALIAS = 'Host: list.example'
const ORIGIN = 'https://page.example'
const JSON_FIELD = `Content-Type: ${ENDPOINT.mediaType}`
const EMAIL = 'name@example.org'

// Tests get their names before any hook runs, so the description is made here.
const env = {
  PORT: '0',
  BASE_URL: 'https://www.list.example',
  CORS_ORIGINS: ORIGIN,
  SITE_FILE: toSupportFile('site.yaml'),
}
const config = readConfig(env)
const description = createDescription(config)

let service: RunningService
let lockedService: RunningService
let failingService: FailingService
let lock: Database

beforeAll(async () => {
  ;[service, lockedService] = await Promise.all([startService({ env }), startService({ env })])
  failingService = startFailingService(config)
  lock = new Database(join(lockedService.folder, 'data/rollcall.db'))
  lock.run('BEGIN IMMEDIATE')
})

afterAll(async () => {
  lock.close()
  await Promise.all([service.stop(), lockedService.stop(), failingService.stop()])
})

type Provocation = (operation: Operation) => Promise<RawReply | undefined>

const ask =
  (...fields: string[]): Provocation =>
  ({ method, path }) =>
    exchange(service.port, toRequest(`${method} ${path}`, fields))
const postText = (body: string, port = service.port) =>
  exchange(port, toRequest(`POST ${ENDPOINT.path}`, [HOST, JSON_FIELD], body))
const post =
  (body: unknown): Provocation =>
  () =>
    postText(JSON.stringify(body))

const FAULTS: Readonly<Record<ErrorReason, Provocation>> = {
  missing: post({}),
  not_a_string: post({ email: [EMAIL] }),
  empty: post({ email: ' ' }),
  too_long: post({ email: `${'l'.repeat(65)}@example.org` }),
  display_name: post({ email: `Name <${EMAIL}>` }),
  several: post({ email: `${EMAIL}, other@example.org` }),
  non_ascii_domain: post({ email: 'name@b\u00FCcher.example' }),
  non_ascii: post({ email: 'n\u00E4me@example.org' }),
  malformed: post({ email: 'name' }),
  no_body: () => postText(''),
  malformed_json: () => postText('{"email":'),
  not_an_object: post([EMAIL]),
  slow_body: dripBody,
  large_body: post({ email: ' '.repeat(MAX_BODY_BYTES) }),
  media_type: () =>
    exchange(service.port, toRequest(`POST ${ENDPOINT.path}`, [HOST, 'Content-Type: text/plain'], '{}')),
  post_only: ({ method, path }) => ask(HOST)({ method: method === 'POST' ? 'GET' : method, path }),
  read_only: ({ path }) => ask(HOST)({ method: 'DELETE', path }),
  no_such_path: ({ method, path }) => ask(HOST)({ method, path: `${path}/` }),
  // Documents need no store: only what nobody foresaw makes them fail.
  store_failed: (operation) =>
    operation.method === 'POST'
      ? postText(JSON.stringify({ email: EMAIL }), lockedService.port)
      : failingService.provoke(operation),
}

/** How each example is provoked, by its name. */
const PROVOCATIONS: Readonly<Record<string, Provocation>> = {
  ...FAULTS,
  accepted: post({ email: EMAIL }),
  // The one example of a document.
  example: ask(HOST),
  204: ask(HOST, `Origin: ${ORIGIN}`, 'Access-Control-Request-Method: POST'),
  304: ask(HOST, 'If-None-Match: *'),
  308: ask(ALIAS),
}

test('there is a way to provoke every example, and every way is used', () => {
  const names = listAnswers(description).map(({ name }) => name)
  expect(Object.keys(PROVOCATIONS).sort()).toEqual([...new Set(names)].sort())
})

test('the service publishes the description whose examples these are', async () => {
  const { body } = await service.request(DOCUMENTS.openApiJson.path)
  expect(JSON.parse(body)).toEqual(JSON.parse(JSON.stringify(description)))
})

test.concurrent.each(listAnswers(description).map((example) => [toTitle(example), example] as const))(
  '%s is answered as in the example',
  async (_, { name, status, value, ...operation }) => {
    const reply = await PROVOCATIONS[name]!(operation)
    expect(reply?.status).toBe(status)
    service.check({ ...operation, ...reply! })
    const body = reply!.body.toString()
    if (name === 'example') expectDocument(body, value)
    else expect(body).toBe(value === undefined ? '' : JSON.stringify(value))
    if (name === '308') expect(reply!.headers.get('location')).toBe(env.BASE_URL + operation.path)
  },
)

test.concurrent.each(listRequests(description).map((example) => [toTitle(example), example] as const))(
  '%s is accepted',
  async (_, { method, path, mediaType, value }) => {
    const fields = [HOST, `Content-Type: ${mediaType}`]
    const reply = await exchange(service.port, toRequest(`${method} ${path}`, fields, JSON.stringify(value)))
    expect([reply?.status, reply?.body.toString()]).toEqual([200, '{"ok":true}'])
  },
)

test('what the examples posted is on the list', async () => {
  const { stdout } = await runCommand(['count'], {
    env: { DATABASE_URL: `sqlite:${service.folder}/data/rollcall.db` },
  })
  const addresses = listRequests(description).map(({ value }) => (value as { email: string }).email)
  expect(stdout).toBe(`${new Set([EMAIL, ...addresses]).size}\n`)
})

test('what nobody foresaw is logged with its stack', () => {
  expect(failingService.log()).not.toHaveLength(0)
  for (const { err } of failingService.log()) expect(err.stack).toMatch(/an unexpected error.*\n +at /s)
})

test('a new and a known address are answered with the same bytes, whatever the spelling', async () => {
  const replies: string[] = []
  for (const email of ['new@example.org', 'new@example.org', 'NEW@example.org', ' new@EXAMPLE.org ']) {
    for (const fields of [
      [JSON_FIELD],
      [JSON_FIELD, `Origin: ${ORIGIN}`],
      [JSON_FIELD, 'Connection: close'],
    ]) {
      const request = toRequest(`POST ${ENDPOINT.path}`, [HOST, ...fields], JSON.stringify({ email }))
      const reply = await exchange(service.port, request)
      replies.push(`${fields}\n${reply!.bytes.toString('latin1').replace(/^Date: .*\r\n/im, '')}`)
    }
  }
  expect(replies[0]).toContain('200 OK')
  expect(new Set(replies).size).toBe(3)
})

/** Sends a body a little at a time, and goes on until it is answered. */
async function dripBody({ method, path }: Operation): Promise<RawReply | undefined> {
  const connection = await openConnection(service.port)
  connection.send(toRequest(`${method} ${path}`, [HOST, JSON_FIELD, `Content-Length: ${MAX_BODY_BYTES}`]))
  const drip = setInterval(() => connection.send(' '), 100)
  const reply = await connection.receive()
  clearInterval(drip)
  await connection.waitForClose()
  return reply
}

function toTitle({
  method,
  path,
  name,
  status = '',
}: Operation & { name: string; status?: number | string }) {
  return `${method} ${path} ${status} ${name}`
}

/** Holds a document against its example, which is cut short: in JSON at these members, else behind the first line or tag. */
function expectDocument(body: string, example: unknown): void {
  if (typeof example === 'string') {
    expect(body).toStartWith(/^[^>\n]+/.exec(example)![0])
    return
  }
  const { paths, linkset, ...whole } = example as Record<string, unknown>
  expect(JSON.parse(body)).toMatchObject(whole)
}
