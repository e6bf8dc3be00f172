/**
 * One server with the five services of docs/hand-over.md. Each keeps its members in memory, and answers as its
 * documentation describes. A request that the documentation does not allow is a problem.
 *
 *   webhook      Standard Webhooks 1.0.0, spec/standard-webhooks.md
 *   listmonk     docs/docs/content/apis/subscribers.md and cmd/subscribers.go of version 6.2
 *   Ghost        docs.ghost.org/admin-api, and core/server/services/auth/api-key/admin.js
 *   Mailchimp    Marketing API 3.0, "Batch subscribe or unsubscribe"
 *   Buttondown   openapi.json of github.com/buttondown/openapi
 */

import { createHmac } from 'node:crypto'
import { z } from 'zod'

export const SECRETS = {
  webhook: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  listmonk: 'rollcall:TOKEN',
  ghost: `6489f0c3b5a2c80001a1b2c3:${'ab'.repeat(32)}`,
  mailchimp: 'rollcall:KEY-us6',
  buttondown: 'KEY',
} as const

export type ServiceName = keyof typeof SECRETS

/** Every service but the webhook refuses this address for good. */
export const REFUSED = 'refused@site.io'

type Reply = readonly [status: number, body: unknown]

interface Call {
  readonly headers: Headers
  readonly text: string
  readonly body: unknown
  readonly members: Set<string>
}

const SERVICES: Readonly<Record<ServiceName, readonly [path: string, answer: (call: Call) => Reply]>> = {
  webhook: ['/newsletter', receiveWebhook],
  listmonk: ['/api/subscribers', addToListmonk],
  ghost: ['/ghost/api/admin/members/', addToGhost],
  mailchimp: ['/3.0/lists/AUDIENCE', addToMailchimp],
  buttondown: ['/v1/subscribers', addToButtondown],
}

/** Starts the server on a free port. */
export function startMailServices() {
  const names = Object.keys(SERVICES) as ServiceName[]
  const state = {
    /** The addresses that each service has, in lower case, in the order in which they came. */
    members: Object.fromEntries(names.map((name) => [name, new Set()])) as Record<ServiceName, Set<string>>,
    /** The `webhook-id` of each request to the webhook. */
    webhookIds: [] as string[],
    /** What was wrong with requests. */
    problems: [] as string[],
    /** The number of requests that get the status 503, after `failAfter` others. */
    failures: 0,
    failAfter: 0,
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { method, headers } = request
      const { pathname } = new URL(request.url)
      const name = names.find((candidate) => SERVICES[candidate][0] === pathname)
      const text = await request.text()
      if (name === 'webhook') state.webhookIds.push(headers.get('webhook-id') ?? '')
      if (state.failAfter-- <= 0 && state.failures-- > 0) return new Response('', { status: 503 })
      try {
        if (name === undefined) throw new Error('no such path')
        expectSame(`${method} ${headers.get('content-type')}`, 'POST application/json')
        const [status, body] = SERVICES[name][1]({
          headers,
          text,
          body: JSON.parse(text),
          members: state.members[name],
        })
        return Response.json(body, { status })
      } catch (error) {
        state.problems.push(`${method} ${pathname}: ${error}`)
        return new Response('', { status: 500 })
      }
    },
  })
  return Object.assign(state, { origin: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) })
}

const ROW = z.strictObject({ email: z.string(), subscribed_at: z.iso.datetime(), seq: z.int() })
const WEBHOOK = z.strictObject({
  // A full-stop delimited type of [a-zA-Z0-9_].
  type: z.string().regex(/^\w+(\.\w+)*$/),
  timestamp: z.iso.datetime(),
  data: z.strictObject({ subscribers: z.array(ROW).min(1) }),
})

function receiveWebhook({ headers, text, body, members }: Call): Reply {
  const read = (name: string) => headers.get(`webhook-${name}`) ?? ''
  const [id, time] = [read('id'), read('timestamp')]
  if (!/^\d+$/.test(time) || Math.abs(Date.now() / 1000 - Number(time)) > 300) throw new Error(`timestamp: ${time}`)
  const key = Buffer.from(SECRETS.webhook.slice('whsec_'.length), 'base64')
  expectSame(read('signature'), `v1,${createHmac('sha256', key).update(`${id}.${time}.${text}`).digest('base64')}`)
  const { subscribers } = WEBHOOK.parse(body).data
  expectSame(id, `rollcall-${subscribers[0]?.seq}-${subscribers.at(-1)?.seq}`)
  for (const { email } of subscribers) members.add(email.toLowerCase())
  return [202, {}]
}

/** Adds one address, or returns the reply for an address that is refused or known. */
function add(members: Set<string>, text: string, { refused, known }: { refused: Reply; known: Reply }): Reply {
  const email = text.toLowerCase()
  if (email === REFUSED) return refused
  if (members.has(email)) return known
  members.add(email)
  return [201, { id: String(members.size), email }]
}

const LISTMONK = z.strictObject({
  email: z.string(),
  name: z.string().min(1),
  status: z.enum(['enabled', 'blocklisted']),
  lists: z.array(z.int()).min(1),
})

function addToListmonk({ headers, body, members }: Call): Reply {
  expectBasic(headers, SECRETS.listmonk)
  const [status, reply] = add(members, LISTMONK.parse(body).email, {
    refused: [400, { message: 'Invalid e-mail.' }],
    known: [409, { message: 'E-mail already exists.' }],
  })
  return [status === 201 ? 200 : status, reply]
}

const GHOST = z.strictObject({ members: z.tuple([z.strictObject({ email: z.string() })]) })
const TOKEN_HEAD = z.strictObject({ alg: z.literal('HS256'), typ: z.literal('JWT'), kid: z.string() })
const TOKEN_CLAIMS = z.strictObject({ iat: z.int(), exp: z.int(), aud: z.literal('/admin/') })

function addToGhost({ headers, body, members }: Call): Reply {
  checkGhostToken(headers.get('authorization') ?? '')
  const toError = (context: string) => ({ errors: [{ message: 'Validation error, cannot save member.', context }] })
  return add(members, GHOST.parse(body).members[0].email, {
    refused: [422, toError('Invalid Email')],
    known: [422, toError('Member already exists. Attempting to add member with existing email address')],
  })
}

function checkGhostToken(authorization: string): void {
  const [id = '', secret = ''] = SECRETS.ghost.split(':')
  const [, head = '', claims = '', signature] = /^Ghost ([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(authorization) ?? []
  const decode = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString())
  expectSame(TOKEN_HEAD.parse(decode(head)).kid, id)
  const { iat, exp } = TOKEN_CLAIMS.parse(decode(claims))
  const now = Date.now() / 1000
  if (exp - iat > 300 || iat > now + 1 || exp < now) throw new Error('the token is not valid now')
  const hmac = createHmac('sha256', Buffer.from(secret, 'hex')).update(`${head}.${claims}`)
  expectSame(signature, hmac.digest('base64url'))
}

const MEMBER = z.strictObject({ email_address: z.string(), status: z.enum(['subscribed', 'pending']) })
const MAILCHIMP = z.strictObject({ members: z.array(MEMBER).min(1).max(500), update_existing: z.literal(false) })

function addToMailchimp({ headers, body, members }: Call): Reply {
  expectBasic(headers, SECRETS.mailchimp)
  const errors = MAILCHIMP.parse(body).members.flatMap(({ email_address }) => {
    const toError = (error_code: string): Reply => [200, { email_address, error: 'an error', error_code }]
    const replies = { refused: toError('ERROR_GENERIC'), known: toError('ERROR_CONTACT_EXISTS') }
    const [status, reply] = add(members, email_address, replies)
    return status === 201 ? [] : [reply]
  })
  return [200, { new_members: [], updated_members: [], errors, error_count: errors.length }]
}

function addToButtondown({ headers, body, members }: Call): Reply {
  expectSame(headers.get('authorization'), `Token ${SECRETS.buttondown}`)
  const { email_address } = z.strictObject({ email_address: z.string().max(254) }).parse(body)
  return add(members, email_address, {
    refused: [400, { code: 'email_blocked', detail: 'That address is blocked.' }],
    known: [400, { code: 'email_already_exists', detail: 'That address is subscribed.' }],
  })
}

function expectBasic(headers: Headers, user: string): void {
  expectSame(headers.get('authorization'), `Basic ${btoa(user)}`)
}

function expectSame(actual: unknown, documented: unknown): void {
  if (actual !== documented) throw new Error(`it is ${actual}; documented is ${documented}`)
}
