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
import { z } from 'zod'
import { type CliFixture, createCliFixture } from '../support/cli-fixture.ts'
import { findBlock, readBlocks } from '../support/markdown.ts'
import { toSupportFile } from '../support/paths.ts'

const DOCUMENT = 'docs/hand-over.md'

/** Every service but the webhook refuses this address for good. */
const REFUSED = 'refused@site.io'

/** Addresses with every character that means something to a shell, to sed, to printf or to JSON. */
const EMAILS = ["o'brien@site.io", '%s&{a}$HOME`id`@site.io', REFUSED, 'Known@site.io', '*?#!=^~|/+-_@site.io']

type Result = 'added' | 'known' | 'refused'
type Reply = readonly [status: number, body: unknown]

interface Service {
  /** What the test replaces in the script. */
  readonly origin: string
  readonly path: string
  /** The file with the secret, and the secret. */
  readonly secret: readonly [file: string, text: string]
  /** Whether one request has all addresses. */
  readonly isBatch?: true
  /** Checks a request, and returns its addresses. @throws when the documentation does not allow it */
  read(headers: Headers, text: string): readonly string[]
  reply(results: readonly Result[], emails: readonly string[]): Reply
}

const WEBHOOK_KEY = Buffer.alloc(32, 7)
const GHOST_KEY = { id: '6489f0c3b5a2c80001a1b2c3', secret: 'ab'.repeat(32) }
const LISTMONK_BODY = z.strictObject({
  email: z.string(),
  name: z.string().min(1),
  status: z.enum(['enabled', 'blocklisted']),
  lists: z.array(z.int()).min(1),
})
const GHOST_BODY = z.strictObject({ members: z.tuple([z.strictObject({ email: z.string() })]) })
const MAILCHIMP_MEMBER = z.strictObject({ email_address: z.string(), status: z.enum(['subscribed', 'pending']) })
const MAILCHIMP_BODY = z.strictObject({
  members: z.array(MAILCHIMP_MEMBER).min(1).max(500),
  update_existing: z.literal(false),
})
const BUTTONDOWN_BODY = z.strictObject({ email_address: z.string().max(254) })

const SERVICES: Readonly<Record<string, Service>> = {
  webhook: {
    origin: 'https://hooks.example.org',
    path: '/newsletter',
    secret: ['webhook.secret', `whsec_${WEBHOOK_KEY.toString('base64')}`],
    isBatch: true,
    read: readWebhook,
    reply: () => [202, {}],
  },
  listmonk: {
    origin: 'https://listmonk.example.org',
    path: '/api/subscribers',
    secret: ['listmonk.curl', 'user = "rollcall:TOKEN"'],
    read(headers, text) {
      expect(headers.get('authorization')).toBe(`Basic ${btoa('rollcall:TOKEN')}`)
      return [LISTMONK_BODY.parse(JSON.parse(text)).email]
    },
    reply: ([result = 'added']) => [{ added: 200, known: 409, refused: 400 }[result], { message: 'a message' }],
  },
  ghost: {
    origin: 'https://ghost.example.org',
    path: '/ghost/api/admin/members/',
    secret: ['ghost.key', `${GHOST_KEY.id}:${GHOST_KEY.secret}`],
    read(headers, text) {
      checkGhostToken(headers.get('authorization') ?? '')
      return [GHOST_BODY.parse(JSON.parse(text)).members[0].email]
    },
    reply([result]) {
      const context = result === 'known' ? 'Member already exists. Attempting to add member' : 'Invalid Email'
      const error = { message: 'Validation error, cannot save member.', context }
      return result === 'added' ? [201, {}] : [422, { errors: [error] }]
    },
  },
  mailchimp: {
    origin: 'https://us6.api.mailchimp.com',
    path: '/3.0/lists/AUDIENCE',
    secret: ['mailchimp.curl', 'user = "rollcall:KEY-us6"'],
    isBatch: true,
    read(headers, text) {
      expect(headers.get('authorization')).toBe(`Basic ${btoa('rollcall:KEY-us6')}`)
      return MAILCHIMP_BODY.parse(JSON.parse(text)).members.map(({ email_address }) => email_address)
    },
    reply(results, emails) {
      const codes = { added: '', known: 'ERROR_CONTACT_EXISTS', refused: 'ERROR_GENERIC' }
      const toError = (result: Result, index: number) => ({
        email_address: emails[index],
        error: 'an error',
        error_code: codes[result],
      })
      return [200, { errors: results.map(toError).filter(({ error_code }) => error_code !== '') }]
    },
  },
  buttondown: {
    origin: 'https://api.buttondown.com',
    path: '/v1/subscribers',
    secret: ['buttondown.curl', 'header = "Authorization: Token KEY"'],
    read(headers, text) {
      expect(headers.get('authorization')).toBe('Token KEY')
      return [BUTTONDOWN_BODY.parse(JSON.parse(text)).email_address]
    },
    reply([result = 'added']) {
      const code = { added: '', known: 'email_already_exists', refused: 'email_blocked' }[result]
      return [result === 'added' ? 201 : 400, { code }]
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

/**
 * Starts a service that knows one address. One request gets the status 503: the first one of batches, the third one of single
 * addresses.
 */
function startServer({ path, isBatch, read, reply }: Service) {
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

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { method, url, headers } = request
      const id = headers.get('webhook-id')
      if (id !== null) webhookIds.push(id)
      requests += 1
      if (requests === (isBatch ? 1 : 3)) return new Response('', { status: 503 })
      try {
        const received = [method, new URL(url).pathname, headers.get('content-type')]
        expect(received).toEqual(['POST', path, 'application/json'])
        const emails = read(headers, await request.text())
        const [status, body] = reply(emails.map(add), emails)
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

const ROW = z.strictObject({ email: z.string(), subscribed_at: z.iso.datetime(), seq: z.int() })
const WEBHOOK_BODY = z.strictObject({
  // A full-stop delimited type of [a-zA-Z0-9_].
  type: z.string().regex(/^\w+(\.\w+)*$/),
  timestamp: z.iso.datetime(),
  data: z.strictObject({ subscribers: z.array(ROW).min(1) }),
})

function readWebhook(headers: Headers, text: string): string[] {
  const [id, time, signature] = ['id', 'timestamp', 'signature'].map((name) => headers.get(`webhook-${name}`))
  expect(Math.abs(Date.now() / 1000 - Number(time))).toBeLessThan(300)
  expect(signature).toBe(`v1,${createHmac('sha256', WEBHOOK_KEY).update(`${id}.${time}.${text}`).digest('base64')}`)
  const { subscribers } = WEBHOOK_BODY.parse(JSON.parse(text)).data
  expect(id).toBe(`rollcall-${subscribers[0]?.seq}-${subscribers.at(-1)?.seq}`)
  return subscribers.map(({ email }) => email)
}

const TOKEN_HEAD = z.strictObject({ alg: z.literal('HS256'), typ: z.literal('JWT'), kid: z.literal(GHOST_KEY.id) })
const TOKEN_CLAIMS = z.strictObject({ iat: z.int(), exp: z.int(), aud: z.literal('/admin/') })

function checkGhostToken(authorization: string): void {
  const [, head = '', claims = '', signature] = /^Ghost ([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(authorization) ?? []
  const decode = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString())
  TOKEN_HEAD.parse(decode(head))
  const { iat, exp } = TOKEN_CLAIMS.parse(decode(claims))
  const now = Date.now() / 1000
  expect({ isShort: exp - iat <= 300, isValid: iat <= now + 1 && exp > now }).toEqual({ isShort: true, isValid: true })
  const hmac = createHmac('sha256', Buffer.from(GHOST_KEY.secret, 'hex')).update(`${head}.${claims}`)
  expect(signature).toBe(hmac.digest('base64url'))
}

/** On a machine without curl, puts our own in its place. */
async function addCurl({ folder, write }: CliFixture): Promise<void> {
  await mkdir(join(folder, 'bin'))
  if (Bun.which('curl') !== null) return
  await symlink(process.execPath, join(folder, 'bin/bun'))
  await write('bin/curl', `#!/bin/sh\nexec bun ${toSupportFile('curl.ts')} "$@"\n`)
  await chmod(join(folder, 'bin/curl'), 0o755)
}
