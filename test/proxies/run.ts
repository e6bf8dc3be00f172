/**
 * `npm run test:proxies`: runs two services behind nginx, Caddy and HAProxy with the files of deploy/, and checks what a
 * client sees. Only addresses, ports and certificates differ from what is shipped.
 *
 * Not part of `npm test`: the proxies must be installed. Exit code 1 when one is missing, or when a check fails.
 */

import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BODY_DEADLINE_MS, DOCUMENTS, ENDPOINT, RESPONSES } from '../support/contract.ts'
import { readList } from '../support/list-file.ts'
import { readText } from '../support/markdown.ts'
import { findProgram, PROGRAM_PATH, requirePrograms } from '../support/paths.ts'
import { openConnection, type RawConnection, type RawReply, toRequest } from '../support/raw.ts'
import { createFolder, endServices, startService } from '../support/service.ts'
import { until } from '../support/wait.ts'

const [PLAIN, SECURE] = [takeFreePort(), takeFreePort()]
const HEAD = ['Host: list.example.org', `Content-Type: ${ENDPOINT.mediaType}`]
const POST = toRequest(`POST ${ENDPOINT.path}`, HEAD, '{"email":"proxy@example.org"}')

let clients = 0

requirePrograms({ nginx: 'nginx', caddy: 'caddy', haproxy: 'haproxy', openssl: 'openssl' })
process.once('exit', endServices)
const folder = await createFolder()
const pem = join(folder, 'list.pem')
// With the key, which signs it, in the same file.
const names = 'subjectAltName=DNS:list.example.org,DNS:www.list.example.org'
const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=list.example.org']
Bun.spawnSync(['openssl', 'req', '-x509', ...key, '-addext', names, '-keyout', pem, '-out', `${pem}.crt`])
const ca = await Bun.file(`${pem}.crt`).text()
await writeFile(pem, ca, { flag: 'a' })
const BASE_URL = 'https://list.example.org'
const services = [await startService({ folder, env: { BASE_URL } }), await startService({ folder, env: { BASE_URL } })]
const [first = 0, second = 0] = services.map(({ port }) => port)

/** Each proxy: its configuration, its arguments, and whether it has a rate limit. */
const PROXIES = {
  nginx: {
    // A test of networks needs addresses that this machine does not have.
    text: `daemon off; master_process off; pid nginx.pid; events {}
      http { access_log off; set_real_ip_from 127.0.0.0/8; real_ip_header X-Real-IP;
      ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`).join(' ')}
      ${adapt('nginx.conf', {
        'listen 80;': `listen 127.0.0.1:${PLAIN};`,
        'listen 443 ssl;': `listen 127.0.0.1:${SECURE} ssl;`,
        'listen [::]:80;': '',
        'listen [::]:443 ssl;': '',
        '/etc/letsencrypt/live/list.example.org/fullchain.pem': pem,
        '/etc/letsencrypt/live/list.example.org/privkey.pem': pem,
        'server 127.0.0.1:3000 max_fails=0;': `server 127.0.0.1:${first} max_fails=0; server 127.0.0.1:${second} max_fails=0;`,
      })} }`,
    toArguments: (file: string) => ['-p', '.', '-c', file, '-e', 'stderr'],
    hasLimit: true,
  },
  caddy: {
    text: adapt('Caddyfile', {
      '\n\tservers {': `\n\tadmin off\n\thttp_port ${PLAIN}\n\thttps_port ${SECURE}\n\tdefault_bind 127.0.0.1\n\tservers {`,
      '\nlist.example.org, www.list.example.org {': `\nlist.example.org, www.list.example.org {\n\ttls ${pem} ${pem}`,
      'reverse_proxy 127.0.0.1:3000 {': `reverse_proxy 127.0.0.1:${first} 127.0.0.1:${second} {`,
    }),
    toArguments: (file: string) => ['run', '--adapter', 'caddyfile', '--config', file],
    hasLimit: false,
  },
  haproxy: {
    text: adapt('haproxy.cfg', {
      'bind :80\n': `bind 127.0.0.1:${PLAIN}\n`,
      'bind :443 ssl crt /etc/haproxy/certs/list.example.org.pem': `bind 127.0.0.1:${SECURE} ssl crt ${pem}`,
      'server rollcall 127.0.0.1:3000': `server one 127.0.0.1:${first}\n    server two 127.0.0.1:${second}`,
    }),
    toArguments: (file: string) => ['-db', '-f', file],
    hasLimit: true,
  },
}

for (const [name, { text, toArguments, hasLimit }] of Object.entries(PROXIES)) {
  const file = join(folder, `${name}.conf`)
  await writeFile(file, text)
  const env = { PATH: PROGRAM_PATH, HOME: folder }
  const proxy = Bun.spawn([findProgram(name) ?? name, ...toArguments(file)], { cwd: folder, env, stderr: 'ignore' })
  process.once('exit', () => proxy.kill('SIGKILL'))
  await until(async () => !(await openConnection(SECURE)).isClosed(), `${name} listens`)
  const checks = { checkResponses, checkUnknownMethod, checkLargeBodies, checkSlowBody, checkPaths }
  for (const check of [
    ...Object.values(checks),
    ...(hasLimit ? [checkLimit] : []),
    ...(name === 'nginx' ? [checkNetworks] : []),
  ]) {
    await check().catch((error) => {
      console.error(`${name}: ${check.name}: ${error.message}`)
      process.exitCode = 1
    })
  }
  proxy.kill()
  await proxy.exited
  console.log(`${name}: done`)
}
const list = await readList(folder)
expectEqual(list, ['proxy@example.org'])
for (const service of services) await service.stop()
await rm(folder, { recursive: true })

async function checkResponses(): Promise<void> {
  expectContract(await send(POST), 'accepted')
  const moved = await send(toRequest('POST /a?b=c&d=%20', ['Host: www.list.example.org'], '{}'))
  expectEqual([moved.status, moved.headers.get('location')], [308, `${BASE_URL}/a?b=c&d=%20`])
  const { path } = DOCUMENTS.openApiJson
  const found = await send(toRequest(`GET ${path}`, [HEAD[0]!, 'Accept-Encoding: br']))
  const etag = found.headers.get('etag')
  expectEqual([found.status, found.headers.get('content-encoding')], [200, 'br'])
  const known = await send(toRequest(`GET ${path}`, [HEAD[0]!, 'Accept-Encoding: br', `If-None-Match: ${etag}`]))
  expectEqual([known.status, known.headers.get('etag')], [304, etag])
}

/** An unknown method gets a 405, and takes no server out. */
async function checkUnknownMethod(): Promise<void> {
  for (let count = 0; count < 10; count++) {
    for (const [path, allow] of Object.entries({ [ENDPOINT.path]: 'POST', '/': 'GET, HEAD' })) {
      const { status, headers, body } = await send(toRequest(`BREW ${path}`, HEAD))
      const code = JSON.parse(String(body)).error.code
      expectEqual([status, code, headers.get('allow')], [405, 'method_not_allowed', allow])
    }
    expectContract(await send(POST), 'accepted')
  }
}

/** A large body gets its 413, and the next request on the connection works. */
async function checkLargeBodies(): Promise<void> {
  for (const size of [17_000, 100_000, 1_000_000]) {
    for (let count = 0; count < 20; count++) {
      const connection = await connect()
      const isChunked = count % 2 === 0
      const field = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${size}`
      connection.send(toRequest(`POST ${ENDPOINT.path}`, [...HEAD, field]))
      connection.send(isChunked ? `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n0\r\n\r\n` : 'x'.repeat(size))
      expectContract(await receive(connection), 'large_body')
      connection.send(POST)
      expectContract(await receive(connection), 'accepted')
      connection.close()
    }
  }
}

/** A slow body gets its 408. It ends after the deadline, because Caddy passes no response on before that. */
async function checkSlowBody(): Promise<void> {
  const connection = await connect()
  connection.send(toRequest(`POST ${ENDPOINT.path}`, [...HEAD, 'Content-Length: 100']))
  for (let sent = 0; sent < 100; sent++) {
    await Bun.sleep((BODY_DEADLINE_MS + 2_000) / 100)
    connection.send(' ')
  }
  expectContract(await receive(connection), 'slow_body')
  connection.close()
}

/** No other spelling of the path reaches the endpoint. */
async function checkPaths(): Promise<void> {
  const spellings = ['/api\\newsletter', '/api/%2e/newsletter', '/x/../api/newsletter', '/api//newsletter']
  for (const path of [...spellings, '/%61pi/newsletter', '/api/newsletter/', '/API/newsletter', '/api%2fnewsletter']) {
    const { status } = await send(toRequest(`POST ${path}`, HEAD, '{"email":"alias@example.org"}'))
    if (status < 400 || status >= 500) throw new Error(`POST ${path} gets ${status}`)
  }
}

/** Each POST counts for the limit of its client, also the form and paths that do not exist. */
async function checkLimit(): Promise<void> {
  const client = takeClient()
  const posts = [POST, toRequest('POST /de', HEAD, '{}'), toRequest('POST /x', HEAD, '{}')]
  let refused: RawReply | undefined
  for (let count = 0; count < 60 && !refused; count++) {
    const reply = await send(posts[count % 3]!, client)
    if (reply.status === 429) refused = reply
  }
  const { headers, body } = refused ?? (await send(POST, client))
  const code = JSON.parse(String(body)).message
  expectEqual(
    [headers.get('content-type'), headers.get('retry-after'), code],
    ['application/json', '10', 'rate_limited'],
  )
  expectEqual([(await send(toRequest('GET /', HEAD), client)).status, (await send(POST)).status], [200, 200])
}

/** The addresses of an IPv6 network of 64 bits share a limit in nginx. */
async function checkNetworks(): Promise<void> {
  const ask = async (address: string) => (await send(POST.replace('\r\n', `\r\nX-Real-IP: ${address}\r\n`))).status
  const statuses: number[] = []
  for (let count = 1; count <= 40; count++) statuses.push(await ask(`2001:db8:0:1::${count.toString(16)}`))
  expectEqual([statuses[0], statuses.includes(429), await ask('2001:db8:0:2::1')], [200, true, 200])
}

/** Returns an address of this machine that no other client has. */
function takeClient(): string {
  clients++
  return `127.1.${clients >> 8}.${clients & 255}`
}

function connect(localAddress = takeClient()): Promise<RawConnection> {
  return openConnection(SECURE, { localAddress, tls: { servername: 'list.example.org', ca } })
}

async function send(bytes: string, client?: string): Promise<RawReply> {
  const connection = await connect(client)
  connection.send(bytes)
  const reply = await receive(connection)
  connection.close()
  return reply
}

async function receive(connection: RawConnection): Promise<RawReply> {
  const reply = await connection.receive()
  if (!reply) throw new Error('the connection was closed without a response')
  return reply
}

function expectContract({ status, body }: RawReply, name: keyof typeof RESPONSES): void {
  expectEqual([status, String(body)], [RESPONSES[name].status, RESPONSES[name].body])
}

function expectEqual(seen: readonly unknown[], expected: readonly unknown[]): void {
  if (JSON.stringify(seen) === JSON.stringify(expected)) return
  throw new Error(`${JSON.stringify(seen)} instead of ${JSON.stringify(expected)}`)
}

/** Reads a file of deploy/ and replaces parts of it, each of which it must have once. */
function adapt(name: string, parts: Readonly<Record<string, string>>): string {
  return Object.entries(parts).reduce(
    (text, [part, other]) => {
      if (text.split(part).length !== 2) throw new Error(`deploy/${name} must have this once: ${part}`)
      return text.replace(part, () => other)
    },
    readText(join('deploy', name)),
  )
}

function takeFreePort(): number {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  probe.stop(true)
  return probe.port
}
