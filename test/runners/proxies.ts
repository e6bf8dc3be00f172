/**
 * `npm run test:only -- proxies`: what a client sees of two services behind nginx, Caddy and HAProxy with the files of
 * deploy/. Only addresses, ports and certificates differ from what is shipped.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { LOCALES } from '../../src/locales/languages.ts'
import { BODY_DEADLINE_MS, DOCUMENTS, ENDPOINT } from '../support/contract.ts'
import { readList } from '../support/list-file.ts'
import { readText } from '../support/markdown.ts'
import { findProgram, PROGRAM_PATH } from '../support/paths.ts'
import {
  expectResponse,
  openConnection,
  POST_LINE,
  type RawConnection,
  type RawReply,
  toChunk,
  toRequest,
} from '../support/raw.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/wait.ts'
import { createFolder, findPort } from '../support/workspace.ts'

const [plain, secure] = [findPort(), findPort()]
const BASE_URL = 'https://list.example.org'
const HEAD = ['Host: list.example.org', `Content-Type: ${ENDPOINT.mediaType}`]
const POST = toRequest(POST_LINE, HEAD, '{"email":"proxy@example.org"}')

const folder = await createFolder()
const pem = join(folder, 'list.pem')
const names = 'subjectAltName=DNS:list.example.org,DNS:www.list.example.org'
const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=list.example.org']
Bun.spawnSync(['openssl', 'req', '-x509', ...key, '-addext', names, '-keyout', pem, '-out', `${pem}.crt`])
const ca = await Bun.file(`${pem}.crt`).text()
// HAProxy wants key and certificate in one file, and the others accept it.
await writeFile(pem, ca, { flag: 'a' })
const services = [await startService({ folder, env: { BASE_URL } }), await startService({ folder, env: { BASE_URL } })]
const [one, two] = services.map(({ port }) => `127.0.0.1:${port}`)

afterAll(async () => {
  expect(await readList(folder)).toEqual(['proxy@example.org'])
  for (const service of services) expect(await service.stop()).toBe(0)
})

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`)
const NGINX = `daemon off; master_process off; pid nginx.pid; events {} http { access_log off; ${TEMPORARY.join(' ')}`

/** The address and the network of a CDN, and the header in which it names its client. */
const CDN = { address: '127.77.0.1', network: '127.77.0.0/16', header: 'CF-Connecting-IP' }

/** The client whose every POST is above the limit of Caddy. */
const LIMITED = '127.77.1.1'

const CADDYFILE = readText('deploy/Caddyfile')
const findComment = (name: string) =>
  new RegExp(`^\\t# ${name} \\{\\n.*?\\n\\t# \\}`, 'ms').exec(CADDYFILE)?.[0] ?? name
const errors = findComment('handle_errors')
/**
 * The comments for a limit. Debian's Caddy has no module that counts, and does not know the lines for a CDN. So an error for one
 * client stands for the module, and what follows it is as shipped.
 */
const CADDY_LIMIT = {
  [findComment('rate_limit')]: `\t@above {\n\t\tmethod POST\n\t\tremote_ip ${LIMITED}\n\t}\n\terror @above 429`,
  [errors]: errors.replace(/^\t# /gm, '\t').replace('127.0.0.1:3000', `${one}`),
}

const PROXIES = [
  {
    name: 'nginx',
    text: `${NGINX} ${adapt('nginx.conf', {
      'listen 80;': `listen 127.0.0.1:${plain};`,
      'listen 443 ssl http2;': `listen 127.0.0.1:${secure} ssl http2;`,
      'listen [::]:80;': '',
      'listen [::]:443 ssl http2;': '',
      '/etc/letsencrypt/live/list.example.org/fullchain.pem': pem,
      '/etc/letsencrypt/live/list.example.org/privkey.pem': pem,
      '# set_real_ip_from 192.0.2.0/24;': `set_real_ip_from ${CDN.network};`,
      '# real_ip_header CF-Connecting-IP;': `real_ip_header ${CDN.header};`,
      'server 127.0.0.1:3000 max_fails=0;': `server ${one} max_fails=0; server ${two} max_fails=0;`,
    })} }`,
    args: ['-p', '.', '-e', 'stderr', '-c'],
  },
  {
    name: 'caddy',
    text: adapt('Caddyfile', {
      ...CADDY_LIMIT,
      '\n\tservers {': `\n\tadmin off\n\thttp_port ${plain}\n\thttps_port ${secure}\n\tdefault_bind 127.0.0.1\n\tservers {`,
      '\nlist.example.org {': `\nlist.example.org, www.list.example.org {\n\ttls ${pem} ${pem}`,
      '\n\treverse_proxy 127.0.0.1:3000 {': `\n\treverse_proxy ${one} ${two} {`,
    }),
    args: ['run', '--adapter', 'caddyfile', '--config'],
  },
  {
    name: 'haproxy',
    text: adapt('haproxy.cfg', {
      'bind :80\n': `bind 127.0.0.1:${plain}\n`,
      'bind :443 ssl crt /etc/haproxy/certs/list.example.org.pem': `bind 127.0.0.1:${secure} ssl crt ${pem}`,
      '# http-request set-src': 'http-request set-src',
      '192.0.2.0/24 2001:db8::/32': CDN.network,
      'server rollcall 127.0.0.1:3000': `server one ${one}\n    server two ${two}`,
    }),
    args: ['-db', '-f'],
  },
]

describe.each(PROXIES)('$name', ({ name, text, args }) => {
  let proxy: Bun.Subprocess
  beforeAll(async () => {
    await writeFile(join(folder, name), text)
    const env = { PATH: PROGRAM_PATH, HOME: folder }
    proxy = Bun.spawn([findProgram(name) ?? name, ...args, name], { cwd: folder, env, stderr: 'ignore' })
    await until(async () => !(await openConnection(secure)).isClosed(), `${name} listens`)
  })
  afterAll(async () => {
    proxy.kill()
    await proxy.exited
  })

  test('responses are those of the service: new addresses, redirects, compression, 304', async () => {
    expectResponse(await send(POST), 'accepted')
    const moved = await send(toRequest('POST /a?b=c&d=%20', ['Host: www.list.example.org'], '{}'))
    expect([moved.status, moved.headers.get('location')]).toEqual([308, `${BASE_URL}/a?b=c&d=%20`])
    const get = [`GET ${DOCUMENTS.openApiJson.path}`, [HEAD[0]!, 'Accept-Encoding: br']] as const
    const found = await send(toRequest(...get))
    const etag = found.headers.get('etag')
    expect([found.status, found.headers.get('content-encoding')]).toEqual([200, 'br'])
    const known = await send(toRequest(get[0], [...get[1], `If-None-Match: ${etag}`]))
    expect([known.status, known.headers.get('etag')]).toEqual([304, etag])
  })

  test('browsers get HTTP/2', async () => {
    const options = { host: '127.0.0.1', port: secure, servername: 'list.example.org', ca, ALPNProtocols: ['h2'] }
    const socket = connectTls(options)
    await once(socket, 'secureConnect')
    expect(socket.alpnProtocol).toBe('h2')
    socket.destroy()
  })

  test('an unknown method gets a 405, and takes no server out', async () => {
    for (let count = 0; count < 10; count++) {
      const { status, headers, body } = await send(toRequest(`BREW ${ENDPOINT.path}`, HEAD))
      expect([status, headers.get('allow'), JSON.parse(String(body)).message]).toEqual([
        ...[405, 'POST', 'method_not_allowed'],
      ])
      expect((await send(toRequest('BREW /', HEAD))).headers.get('allow')).toBe('GET, HEAD')
      expectResponse(await send(POST), 'accepted')
    }
  })

  test('a large body gets its 413, and the next request on the connection works', async () => {
    for (const size of [17_000, 17_000, 100_000, 100_000, 1_000_000, 1_000_000]) {
      const body = 'x'.repeat(size)
      const head = toRequest(POST_LINE, [...HEAD, 'Transfer-Encoding: chunked'])
      for (const request of [toRequest(POST_LINE, HEAD, body), `${head}${toChunk(body)}0\r\n\r\n`]) {
        const connection = await connect()
        connection.send(request)
        expectResponse((await connection.receive())!, 'large_body')
        connection.send(POST)
        expectResponse((await connection.receive())!, 'accepted')
        connection.close()
      }
    }
  })

  // The body ends after the deadline, because Caddy passes no response on before that.
  test('a slow body gets its 408', async () => {
    const connection = await connect()
    connection.send(toRequest(POST_LINE, [...HEAD, `Content-Length: ${(BODY_DEADLINE_MS + 2_000) / 100}`]))
    const timer = setInterval(() => connection.send(' '), 100)
    const reply = await connection.receive()
    clearInterval(timer)
    connection.close()
    expectResponse(reply!, 'slow_body')
  })

  test('each POST counts for the limit of its client, also the form and other paths', async () => {
    const client = name === 'caddy' ? LIMITED : takeClient()
    const posts = [POST, toRequest('POST /de', HEAD, '{}'), toRequest('POST /x', HEAD, '{}')]
    const replies: RawReply[] = []
    for (let count = 0; count < 60; count++) replies.push(await send(posts[count % 3]!, client))
    const { headers, body } = replies.find(({ status }) => status === 429)!
    expect(headers.get('content-type')).toBe('application/json')
    // Of Caddy, the module sets it.
    if (name !== 'caddy') expect(headers.get('retry-after')).toBe('10')
    expect(JSON.parse(String(body)).message).toBe('rate_limited')
    expect([(await send(toRequest('GET /', HEAD), client)).status, (await send(POST)).status]).toEqual([200, 200])
    const form = ['Host: list.example.org', 'Content-Type: application/x-www-form-urlencoded', 'Accept: text/html,*/*']
    // The limit may let one pass meanwhile.
    const sendForm = async (path: string): Promise<RawReply> => {
      const reply = await send(toRequest(`POST ${path}`, form, 'email=proxy%40example.org'), client)
      return reply.status === 429 ? reply : sendForm(path)
    }
    const page = await sendForm('/de')
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(String(page.body)).toContain(`>${LOCALES.de.too_many}</p>`)
    expect(String(page.body)).toContain('value="proxy@example.org"')
    expect((await sendForm(ENDPOINT.path)).headers.get('content-type')).toBe('application/json')
  })

  if (name !== 'caddy') {
    test('behind a CDN, each of its clients has a limit of its own, and an IPv6 network of 64 bits is one', async () => {
      const ask = (reader: string, from = CDN.address) =>
        send(POST.replace('\r\n', `\r\n${CDN.header}: ${reader}\r\n`), from).then(({ status }) => status)
      const askAll = async (readers: readonly string[], from?: string) => {
        const statuses: number[] = []
        for (const reader of readers) statuses.push(await ask(reader, from))
        return statuses
      }
      const readers = [...Array(60).keys()]
      expect(await askAll(readers.map((number) => `198.51.100.${number}`))).toEqual(Array(60).fill(200))
      expect(await askAll(readers.map(() => '203.0.113.7'))).toContain(429)
      expect(await askAll(readers.map((number) => `2001:db8:0:1::${number}`))).toContain(429)
      expect(await ask('2001:db8:0:2::1')).toBe(200)
      // Others cannot choose another address with each request.
      expect(
        await askAll(
          readers.map((number) => `192.0.2.${number}`),
          takeClient(),
        ),
      ).toContain(429)
    })
  }
})

let clients = 0

/** Returns an address of this machine that no other client has. */
function takeClient(): string {
  clients++
  return `127.1.${clients >> 8}.${clients & 255}`
}

function connect(localAddress = takeClient()): Promise<RawConnection> {
  return openConnection(secure, { localAddress, tls: { servername: 'list.example.org', ca } })
}

async function send(bytes: string, client?: string): Promise<RawReply> {
  const connection = await connect(client)
  connection.send(bytes)
  const reply = await connection.receive()
  connection.close()
  return reply!
}

/** Reads a file of deploy/ and replaces parts of it, each of which it must have once. */
function adapt(name: string, parts: Readonly<Record<string, string>>): string {
  let text = readText(join('deploy', name))
  for (const [part, other] of Object.entries(parts)) {
    if (text.split(part).length !== 2) throw new Error(`deploy/${name} must have this once: ${part}`)
    text = text.replace(part, () => other)
  }
  return text
}
