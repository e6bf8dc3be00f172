/** Spellings of a path: only the path itself, byte for byte, reaches a resource. A rule of a proxy matches no other. */

import { afterAll, describe, expect, test } from 'bun:test'
import { DOCUMENTS, ENDPOINT } from '../support/contract.ts'
import { readList } from '../support/list-file.ts'
import { exchange, expectResponse, POST_HEADERS, type RawReply, toRequest } from '../support/raw.ts'
import { startService } from '../support/service.ts'

const [, JSON_FIELD] = POST_HEADERS
const BODY = '{"email":"path@example.org"}'

/** If the Host is valid, the runtime normalizes the target in `request.url`. Otherwise it does not. */
const HOSTS = ['127.0.0.1', 'a b'] as const

const service = await startService({ site: 'languages: [en, de, zh-Hans]' })
afterAll(() => service.stop())

async function send(line: string, host: string): Promise<RawReply> {
  const reply = await exchange(service.port, toRequest(line, [`Host: ${host}`, JSON_FIELD], BODY))
  if (!reply) throw new Error(`${line} got no response`)
  return reply
}

/** Sends a request that must get the 404. */
async function expectNotFound(line: string, host: string): Promise<void> {
  const reply = await send(line, host)
  expect([line, reply.status]).toEqual([line, 404])
  expectResponse(reply, 'no_such_path')
}

/** What a URL parser ignores or a lenient server removes, in front of a path and after it. */
const STARTS = ['/', '//', '/.', '/..', '/%2e', '/%2E', '/.%2e', '/%2e%2E', '/x/..', '/x/%2e%2e', '/x\\..', '/\\']
const ENDS = [
  ...['/', '//', '/.', '/x/..', '\\', '\\.', '#', '#x', '#?x', ';', ';x=y', '%00', '%20', '%23', '%3f', '%2f', '.'],
  ...['\x7f', '\xa0', '\xff'],
]
/** The same, in the middle of a path. */
const MIDDLES = ['//', '/./', '/%2e/', '/x/../', '/x/%2E./', '\\', '\\\\', '/\\', '%2f', '%2F', '%5c']

/** Targets that a URL parser or a lenient server takes for a path. A slash at the end of a page is not one: it redirects. */
function toAliases(path: string, isPage = false): string[] {
  const [first = '', ...others] = path.slice(1).split('/')
  const encode = (text: string) => `%${text.charCodeAt(0).toString(16)}${text.slice(1)}`
  return [
    ...STARTS.map((start) => start + path),
    ...ENDS.filter((end) => !isPage || end !== '/').map((end) => path + end),
    `/${encode(first)}${path.slice(1 + first.length)}`,
    ...(others.length > 0 ? MIDDLES.map((middle) => `/${[first, ...others].join(middle)}`) : []),
  ]
}

/** Paths of each kind, with methods that they handle differently. */
const PATHS: readonly (readonly [path: string, methods: readonly string[]])[] = [
  [ENDPOINT.path, ['POST']],
  ...[DOCUMENTS.robots, DOCUMENTS.openApiJson, DOCUMENTS.protectedResource].map(
    ({ path }) => [path, ['GET', 'DELETE']] as const,
  ),
  ...['/de', '/DE', '/zh-Hans', '/zh-hans', '/en', '/zh'].map((path) => [path, ['GET', 'POST', 'PUT']] as const),
]

describe.each(HOSTS)('with the Host "%s"', (host) => {
  test.each(PATHS)('only %s reaches it', async (path, methods) => {
    for (const target of toAliases(path, methods.includes('PUT'))) {
      for (const method of methods) await expectNotFound(`${method} ${target}`, host)
    }
    expect((await send(`${methods[0]} ${path}?a#b`, host)).status).toBeOneOf([200, 308])
  })

  test('no other spelling reaches the endpoint, or the page at /', async () => {
    for (const target of [ENDPOINT.path.toUpperCase(), '/api/newslette%72'])
      await expectNotFound(`POST ${target}`, host)
    for (const target of ['//', '/.', '/..', '/%2e', '/x/..', '/\\', '/#', '/;']) {
      await expectNotFound(`GET ${target}`, host)
    }
  })

  // A proxy has to turn this form into a path before it compares it with its rules (RFC 9112 section 3.2.2).
  test('an absolute target is its path, without aliases', async () => {
    for (const origin of ['http://127.0.0.1', 'http://other.example', 'https://other.example:99', 'http://a@b']) {
      expect((await send(`POST ${origin}${ENDPOINT.path}`, host)).status).toBe(200)
      for (const target of toAliases(ENDPOINT.path)) {
        await expectNotFound(`POST ${origin}${target}`, host)
      }
    }
  })
})

test('the list has the address of the requests to the path', async () => {
  expect(await readList(service.folder)).toEqual(['path@example.org'])
})
