/** What must hold behind every proxy. Each check returns what it saw, and throws when something does not hold. */

import { BODY_DEADLINE_MS, DOCUMENTS, ENDPOINT } from '../support/contract.ts'
import { POST_LINE, toChunk } from '../support/endpoint.ts'
import { exchange, type RawReply, toRequest } from '../support/raw.ts'
import type { RunningProxy } from './proxy.ts'
import { expectContract, expectEqual, receive, send } from './replies.ts'
import type { Target } from './target.ts'
import { checkConnections, checkLimit } from './traffic.ts'

export interface Check {
  readonly name: string
  run(target: Target): Promise<string>
}

/** The origin of the site in the files of deploy/, and the other name of its host. */
export const BASE_URL = 'https://list.example.org'
const ALIAS = 'www.list.example.org'

const POST_HEADERS = ['Host: list.example.org', `Content-Type: ${ENDPOINT.mediaType}`] as const

const FRAMINGS = ['length', 'chunks'] as const
type Framing = (typeof FRAMINGS)[number]

/** Large bodies: each size in each framing as often as this makes 480 requests for each proxy. */
const SIZES = [17_000, 100_000, 1_000_000]
const REPEATS = 80
const CALLERS = 8

/** Reaches the endpoint or a document if something between the client and the handler normalises it. */
const ALIASES = [
  ...['/api\\newsletter', '/api/%2e/newsletter', '/api/./newsletter', '/x/../api/newsletter', '/api//newsletter'],
  ...['//api/newsletter', '/api/newslette%72', '/%61pi/newsletter', '/api%2fnewsletter', '/api/newsletter/'],
  ...['/api/newsletter#x', '/api/newsletter;x', '/api/newsletter%20', '/API/newsletter', '/api/newsletter\xff'],
  ...[
    '/x\\..\\api\\newsletter',
    '/api/newsletter/.',
    '/api/newsletter%00',
    '/api/newsletter\\',
    '/.%2e/api/newsletter',
  ],
]

/** A host, and one that Rollcall cannot parse, so that its runtime does not normalise the target. */
const HOSTS = ['list.example.org', '1.2.3.4.5']

export const CHECKS: readonly Check[] = [
  { name: 'an address', run: checkAccepted },
  { name: '413, and the next request works', run: checkLargeBodies },
  { name: '408', run: checkSlowBody },
  { name: '308 to HTTPS and to the host of BASE_URL', run: checkRedirect },
  { name: 'HEAD, 304 and compression (br, gzip)', run: checkDocuments },
  { name: 'no other spelling of the path reaches the endpoint', run: checkAliases },
  { name: 'new connections to Rollcall for 200 requests', run: checkConnections },
  { name: 'every POST is limited by client: 429 in JSON, Retry-After', run: checkLimit },
]

async function checkAccepted({ proxy }: Target): Promise<string> {
  const reply = await send(proxy, toRequest(POST_LINE, POST_HEADERS, '{"email":"proxy@example.org"}'))
  expectContract(reply, 'accepted')
  return '200'
}

async function checkLargeBodies({ proxy }: Target): Promise<string> {
  const bodies = SIZES.flatMap((size) => FRAMINGS.flatMap((framing) => Array(REPEATS).fill({ size, framing })))
  const queue: { readonly size: number; readonly framing: Framing }[] = [...bodies]
  const failures: string[] = []
  async function call(): Promise<void> {
    for (let body = queue.pop(); body; body = queue.pop()) {
      const fault = await sendLargeBody(proxy, body).catch((error: Error) => error.message)
      if (fault) failures.push(`${body.size} bytes, ${body.framing}: ${fault}`)
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, call))
  const seen = `${bodies.length - failures.length} of ${bodies.length}`
  if (failures.length > 0) throw new Error(`${seen}; ${[...new Set(failures)].slice(0, 3).join('; ')}`)
  return seen
}

/** Sends a large body, and then a valid request on the same connection. */
async function sendLargeBody(
  proxy: RunningProxy,
  { size, framing }: { size: number; framing: Framing },
): Promise<void> {
  const connection = await proxy.connect()
  try {
    connection.send(toRequest(POST_LINE, [...POST_HEADERS, toFramingField(framing, size)]))
    for (let left = size; left > 0; left -= 50_000) {
      const piece = 'x'.repeat(Math.min(left, 50_000))
      connection.send(framing === 'chunks' ? toChunk(piece) : piece)
      await connection.waitForDrain()
    }
    if (framing === 'chunks') connection.send('0\r\n\r\n')
    expectContract(await receive(connection), 'large_body')
    connection.send(toRequest(POST_LINE, POST_HEADERS, '{"email":"proxy@example.org"}'))
    expectContract(await receive(connection), 'accepted')
  } finally {
    connection.close()
  }
}

/** Sends a body slowly, and ends it after the deadline: Caddy passes no response on before that. */
async function checkSlowBody({ proxy }: Target): Promise<string> {
  const replies = FRAMINGS.map(async (framing) => {
    const connection = await proxy.connect()
    const body = ' '.repeat(1_000)
    connection.send(toRequest(POST_LINE, [...POST_HEADERS, toFramingField(framing, body.length)]))
    const end = performance.now() + BODY_DEADLINE_MS + 2_000
    let sent = 0
    while (performance.now() < end && sent < body.length) {
      connection.send(framing === 'chunks' ? toChunk(' ') : ' ')
      sent++
      await Bun.sleep(100)
    }
    connection.send(framing === 'chunks' ? '0\r\n\r\n' : body.slice(sent))
    expectContract(await receive(connection), 'slow_body')
    connection.close()
  })
  await Promise.all(replies)
  return `${replies.length} of ${replies.length}`
}

async function checkRedirect({ proxy }: Target): Promise<string> {
  for (const method of ['GET', 'POST']) {
    const toAlias = (host: string) =>
      toRequest(`${method} /a?b=c&d=%20`, [`Host: ${host}`], method === 'POST' ? '{}' : undefined)
    const replies = [await exchange(proxy.plain, toAlias('list.example.org')), await send(proxy, toAlias(ALIAS))]
    const seen = replies.map((reply) => [reply?.status, reply?.headers.get('location')])
    expectEqual(seen, Array(2).fill([308, `${BASE_URL}/a?b=c&d=%20`]))
  }
  return 'passes'
}

async function checkDocuments({ proxy }: Target): Promise<string> {
  const { path } = DOCUMENTS.openApiJson
  const fetchDocument = (method: string, ...fields: string[]) =>
    send(proxy, toRequest(`${method} ${path}`, ['Host: list.example.org', ...fields]))
  // Without Accept-Encoding, Caddy asks for gzip itself.
  const found = await fetchDocument('GET', 'Accept-Encoding: identity')
  const head = await fetchDocument('HEAD', 'Accept-Encoding: identity')
  const toLength = ({ headers }: RawReply) => headers.get('content-length')
  expectEqual([found.status, head.status, toLength(head)], [200, 200, toLength(found)])
  for (const coding of ['br', 'gzip']) {
    const encoded = await fetchDocument('GET', `Accept-Encoding: ${coding}`)
    expectEqual(
      [encoded.headers.get('content-encoding'), encoded.headers.get('vary')],
      [coding, found.headers.get('vary')],
    )
    const known = await fetchDocument(
      'GET',
      `Accept-Encoding: ${coding}`,
      `If-None-Match: ${encoded.headers.get('etag')}`,
    )
    expectEqual([known.status, known.headers.get('etag')], [304, encoded.headers.get('etag')])
  }
  return 'pass'
}

/** No other spelling may reach the endpoint, also not in an absolute target. */
async function checkAliases({ proxy, readList }: Target): Promise<string> {
  const statuses = new Map<number, number>()
  for (const host of HOSTS) {
    for (const origin of ['', `https://${host}`]) {
      for (const alias of ALIASES) {
        const fields = [`Host: ${host}`, POST_HEADERS[1]]
        const request = toRequest(`POST ${origin}${alias}`, fields, '{"email":"alias@example.org"}')
        const { status, body } = await send(proxy, request)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        // Caddy sends an empty 200 for a host that is not in its file.
        if (status >= 500 || (status < 400 && body.length > 0)) {
          throw new Error(`POST ${origin}${alias} with the Host ${host} gets ${status}`)
        }
      }
    }
  }
  if ((await readList()).includes('alias@example.org')) throw new Error('a refused address is on the list')
  const counts = [...statuses].sort(([one], [other]) => one - other).map(([status, count]) => `${count} × ${status}`)
  return counts.join(', ')
}

function toFramingField(framing: Framing, size: number): string {
  return framing === 'chunks' ? 'Transfer-Encoding: chunked' : `Content-Length: ${size}`
}
