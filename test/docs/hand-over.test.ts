/**
 * The recipes of docs/hand-over.md, against a server that answers as the services document it, and that fails on a
 * request which the documentation does not allow.
 *
 *   webhook      Standard Webhooks 1.0.0, spec/standard-webhooks.md
 *   listmonk     docs/docs/content/apis/subscribers.md and cmd/subscribers.go of version 6.2
 *   Ghost        docs.ghost.org/admin-api, and core/server/services/auth/api-key/admin.js
 *   Mailchimp    Marketing API 3.0, "Batch subscribe or unsubscribe"
 *   Buttondown   openapi.json of github.com/buttondown/openapi
 */

import { expect, onTestFinished, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { chmod, mkdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type CliFixture, createCliFixture } from '../support/cli-fixture.ts'
import { findBlock, readBlocks } from '../support/markdown.ts'

const DOCUMENT = 'docs/hand-over.md'

/** Every service but the webhook refuses this address for good. */
const REFUSED = 'refused@site.io'

/** Addresses with every character that means something to a shell, to sed, to printf or to JSON. */
const EMAILS = ["o'brien@site.io", '%s&{a}$HOME`id`@site.io', REFUSED, 'Known@site.io', '*?#!=^~|/+-_@site.io']

interface Service {
  /** What the test replaces in the script. */
  readonly origin: string
  readonly path: string
  /** The file with the secret, and the secret. */
  readonly secret: readonly [file: string, text: string]
  /** @throws when the request is not authorized */
  authorize(headers: Headers, text: string): void
  /** The body that the documentation asks for. */
  toBody(emails: readonly string[]): object
  /** The reply to a new, a known and a refused address. A service without it takes all addresses in one request. */
  readonly replies?: Readonly<Record<Result, readonly [status: number, body: object]>>
}

type Result = 'added' | 'known' | 'refused'

const WEBHOOK_KEY = Buffer.alloc(32, 7)
const GHOST_KEY = { id: '6489f0c3b5a2c80001a1b2c3', secret: 'ab'.repeat(32) }
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const isAuthorizedBy = (field: string) => (headers: Headers) => expect(headers.get('authorization')).toBe(field)
const toGhostError = (context: string) => ({ errors: [{ message: 'Validation error, cannot save member.', context }] })

const SERVICES: Readonly<Record<string, Service>> = {
  webhook: {
    origin: 'https://hooks.example.org',
    path: '/newsletter',
    secret: ['webhook.secret', `whsec_${WEBHOOK_KEY.toString('base64')}`],
    authorize: checkSignature,
    toBody: (emails) => ({
      type: 'subscribers.added',
      timestamp: TIME,
      data: { subscribers: emails.map((email) => ({ email, subscribed_at: TIME, seq: expect.any(Number) })) },
    }),
  },
  listmonk: {
    origin: 'https://listmonk.example.org',
    path: '/api/subscribers',
    secret: ['listmonk.curl', 'user = "rollcall:TOKEN"'],
    authorize: isAuthorizedBy(`Basic ${btoa('rollcall:TOKEN')}`),
    toBody: ([email = '']) => ({ email, name: email.replace(/@[^@]*$/, ''), status: 'enabled', lists: [1] }),
    replies: {
      added: [200, {}],
      known: [409, { message: 'E-mail already exists.' }],
      refused: [400, { message: 'Invalid e-mail.' }],
    },
  },
  ghost: {
    origin: 'https://ghost.example.org',
    path: '/ghost/api/admin/members/',
    secret: ['ghost.key', `${GHOST_KEY.id}:${GHOST_KEY.secret}`],
    authorize: checkToken,
    toBody: ([email]) => ({ members: [{ email }] }),
    replies: {
      added: [201, {}],
      known: [422, toGhostError('Member already exists. Attempting to add member with existing email address')],
      refused: [422, toGhostError('Invalid Email')],
    },
  },
  mailchimp: {
    origin: 'https://us6.api.mailchimp.com',
    path: '/3.0/lists/AUDIENCE',
    secret: ['mailchimp.curl', 'user = "rollcall:KEY-us6"'],
    authorize: isAuthorizedBy(`Basic ${btoa('rollcall:KEY-us6')}`),
    toBody: (emails) => ({
      members: emails.map((email_address) => ({ email_address, status: 'subscribed' })),
      update_existing: false,
    }),
  },
  buttondown: {
    origin: 'https://api.buttondown.com',
    path: '/v1/subscribers',
    secret: ['buttondown.curl', 'header = "Authorization: Token KEY"'],
    authorize: isAuthorizedBy('Token KEY'),
    toBody: ([email_address]) => ({ email_address }),
    replies: {
      added: [201, {}],
      known: [400, { code: 'email_already_exists' }],
      refused: [400, { code: 'email_blocked' }],
    },
  },
}

test.each(Object.entries(SERVICES))(
  '%s: everybody arrives, also after a failure in the middle',
  async (name, service) => {
    const server = startServer(service)
    const fixture = await createCliFixture()
    await fixture.print(['import', '-'], EMAILS.map((email) => `${email}\n`).join(''))
    const [file, secret] = service.secret
    await fixture.write(file, `${secret}\n`)
    const { text } = findBlock(DOCUMENT, 'sh', `${name}.sh`)
    expect(text).toContain(service.origin)
    await fixture.write(`${name}.sh`, text.replace(service.origin, server.origin))
    await addCurl(fixture)
    const block = readBlocks(DOCUMENT).find((candidate) => candidate.text.includes(`--exec ./${name}.sh`))
    const command = `PATH=$PWD/bin:$PATH; npx() { shift; rollcall "$@"; }; set -e; ${block?.text}`

    expect(await fixture.shell(command)).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/answered 503\nrollcall: subscribers \d+ to/),
    })
    expect(await Bun.file(join(fixture.folder, `${name}.cursor`)).exists()).toBeFalse()

    const stderr = expect.stringContaining('5 addresses exported\n')
    expect(await fixture.shell(command)).toEqual({ code: 0, stdout: '', stderr })
    expect(server.problems).toEqual([])
    const accepted = EMAILS.filter((email) => name === 'webhook' || email !== REFUSED)
    expect([...server.members].sort()).toEqual(accepted.map((email) => email.toLowerCase()).sort())
    if (name !== 'webhook') {
      expect(await readFile(join(fixture.folder, `${name}.refused`), 'utf8')).toStartWith(REFUSED)
      return
    }
    const [id = ''] = server.webhookIds
    expect(id).toMatch(/^rollcall-\d+-\d+$/)
    expect(server.webhookIds).toEqual([id, id])
  },
)

/** Starts a service that knows one address. One request gets the status 503: the first batch, or the third single address. */
function startServer({ path, authorize, toBody, replies }: Service) {
  const members = new Set(['known@site.io'])
  const webhookIds: string[] = []
  const problems: string[] = []
  let requests = 0

  function add(address: string): Result {
    const email = address.toLowerCase()
    if (email === REFUSED && path !== SERVICES.webhook?.path) return 'refused'
    if (members.has(email)) return 'known'
    members.add(email)
    return 'added'
  }

  /** Mailchimp names the members that it does not add. */
  function addAll(emails: readonly string[]) {
    const codes = { added: '', known: 'ERROR_CONTACT_EXISTS', refused: 'ERROR_GENERIC' }
    const results = emails.map((email) => ({ email_address: email, error: 'an error', error_code: codes[add(email)] }))
    return { errors: results.filter(({ error_code }) => error_code !== '') }
  }

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { method, url, headers } = request
      const id = headers.get('webhook-id')
      if (id !== null) webhookIds.push(id)
      requests += 1
      if (requests === (replies ? 3 : 1)) return new Response('', { status: 503 })
      try {
        const received = [method, new URL(url).pathname, headers.get('content-type')]
        expect(received).toEqual(['POST', path, 'application/json'])
        const text = await request.text()
        authorize(headers, text)
        const emails = [...text.matchAll(/"email(?:_address)?":"([^"]*)"/g)].map(([, email = '']) => email)
        expect(JSON.parse(text)).toEqual(toBody(emails))
        const [status, body] = replies ? replies[add(emails[0] ?? '')] : [200, addAll(emails)]
        return Response.json(body, { status })
      } catch (error) {
        problems.push(String(error))
        return new Response('', { status: 500 })
      }
    },
  })
  onTestFinished(() => server.stop(true))
  return { origin: `http://127.0.0.1:${server.port}`, members, webhookIds, problems }
}

function checkSignature(headers: Headers, text: string): void {
  const [id, time, signature] = ['id', 'timestamp', 'signature'].map((name) => headers.get(`webhook-${name}`))
  expect(Math.abs(Date.now() / 1000 - Number(time))).toBeLessThan(300)
  expect(signature).toBe(`v1,${createHmac('sha256', WEBHOOK_KEY).update(`${id}.${time}.${text}`).digest('base64')}`)
  const { subscribers } = JSON.parse(text).data
  expect(id).toBe(`rollcall-${subscribers[0]?.seq}-${subscribers.at(-1)?.seq}`)
}

function checkToken(headers: Headers): void {
  const [, head = '', claims = '', signature] =
    /^Ghost (.+)\.(.+)\.(.+)$/.exec(headers.get('authorization') ?? '') ?? []
  const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
  expect(decode(head)).toEqual({ alg: 'HS256', typ: 'JWT', kid: GHOST_KEY.id })
  const { iat, exp, aud } = decode(claims)
  expect([aud, exp - iat]).toEqual(['/admin/', 300])
  expect(Math.abs(Date.now() / 1000 - iat)).toBeLessThan(300)
  const hmac = createHmac('sha256', Buffer.from(GHOST_KEY.secret, 'hex')).update(`${head}.${claims}`)
  expect(signature).toBe(hmac.digest('base64url'))
}

/** On a machine without curl, puts our own in its place. */
async function addCurl({ folder, write }: CliFixture): Promise<void> {
  await mkdir(join(folder, 'bin'))
  if (Bun.which('curl') !== null) return
  await symlink(process.execPath, join(folder, 'bin/bun'))
  await write('bin/curl', `#!/bin/sh\nexec bun ${import.meta.dir}/curl.ts "$@"\n`)
  await chmod(join(folder, 'bin/curl'), 0o755)
}
