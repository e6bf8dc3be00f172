/** Many requests through a proxy: how many connections it opens to Rollcall, and when it refuses a client. */

import { ENDPOINT } from '../support/contract.ts'
import { toRequest } from '../support/raw.ts'
import { type RunningProxy, takeClient } from './proxy.ts'
import { expectEqual, receive, send } from './replies.ts'
import type { Target } from './target.ts'

const HOST = 'Host: list.example.org'
const FORM = 'Content-Type: application/x-www-form-urlencoded'
const JSON_TYPE = `Content-Type: ${ENDPOINT.mediaType}`

/** Everything that a client may POST: the endpoint, another spelling of it, and the form in two languages. */
const POSTS = [
  toRequest(`POST ${ENDPOINT.path}`, [HOST, JSON_TYPE], '{"email":"limit@example.org"}'),
  toRequest('POST /api\\newsletter', [HOST, JSON_TYPE], '{"email":"limit@example.org"}'),
  toRequest('POST /', [HOST, FORM], 'email=limit%40example.org'),
  toRequest('POST /de', [HOST, FORM], 'email=limit%40example.org'),
]

// Otherwise Caddy asks for gzip, and sends what it decodes in chunks.
const GET = toRequest('GET /', [HOST, 'Accept-Encoding: identity'])

/** Clients and requests of each. The proxy may keep one connection for each client. */
const CLIENTS = 10
const REQUESTS = 20
const MAX_CONNECTIONS = CLIENTS + 4

/** Requests from one address that no file of deploy/ lets through. */
const FLOOD = 60

export async function checkConnections({ proxy }: Target): Promise<string> {
  const before = await readConnections(proxy.upstream)
  for (let client = 0; client < CLIENTS; client++) {
    const connection = await proxy.connect()
    for (let index = 0; index < REQUESTS; index++) {
      connection.send(index % 2 ? GET : (POSTS[0] ?? ''))
      expectEqual([(await receive(connection)).status], [200])
    }
    connection.close()
  }
  const after = await readConnections(proxy.upstream)
  if (after.size === 0) throw new Error('no connection is seen')
  const opened = after.difference(before)
  if (opened.size > MAX_CONNECTIONS) throw new Error(`${opened.size} connections`)
  return String(opened.size)
}

/** Returns the client ports of the connections to a port, also of those that were closed in the last minute (proc(5)). */
async function readConnections(port: number): Promise<Set<string>> {
  const target = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const lines = (await Bun.file('/proc/net/tcp').text()).split('\n').map((line) => line.trim().split(/\s+/))
  const pairs = lines.flatMap(([, local = '', remote = '']) => [
    [local, remote],
    [remote, local],
  ])
  const isClient = ([client, server]: string[]) => server?.endsWith(target) && !client?.endsWith(':0000')
  return new Set(pairs.filter(isClient).map(([client = '']) => client))
}

export async function checkLimit({ setup, proxy }: Target): Promise<string> {
  if (!setup.hasLimit) return 'no module'
  for (const post of POSTS) {
    const client = takeClient()
    const allowed = await countAllowed(proxy, post, client)
    if (allowed < 10) throw new Error(`only ${allowed} requests were let through: ${post.slice(0, 40)}`)
    for (const other of POSTS) await expectRefused(proxy, other, client)
    expectEqual([(await send(proxy, GET, client)).status], [200])
  }
  expectEqual([(await send(proxy, POSTS[0] ?? '')).status], [200])
  return 'yes'
}

async function countAllowed(proxy: RunningProxy, post: string, client: string): Promise<number> {
  for (let count = 0; count < FLOOD; count++) {
    if ((await send(proxy, post, client)).status === 429) return count
  }
  throw new Error(`${FLOOD} requests were let through: ${post.slice(0, 40)}`)
}

/** The error has the shape of Rollcall's errors, with a code of its own. */
async function expectRefused(proxy: RunningProxy, post: string, client: string): Promise<void> {
  const { status, headers, body } = await send(proxy, post, client)
  const types = [headers.get('content-type'), headers.get('retry-after'), headers.get('cache-control')]
  expectEqual([status, ...types], [429, 'application/json', '10', 'no-store'])
  const { ok, message, error } = JSON.parse(body.toString())
  const members = [ok, message, error.code, Object.keys(error), typeof error.message, typeof error.hint]
  expectEqual(members, [false, 'rate_limited', 'rate_limited', ['code', 'message', 'hint'], 'string', 'string'])
}
