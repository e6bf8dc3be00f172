/**
 * What five services answer to the requests of docs/hand-over.md, as their documentation describes it:
 *
 *   webhook      Standard Webhooks 1.0.0, spec/standard-webhooks.md
 *   listmonk     docs/docs/content/apis/subscribers.md and cmd/subscribers.go of version 6.2
 *   Ghost        docs.ghost.org/admin-api, and core/server/services/auth/api-key/admin.js
 *   Mailchimp    Marketing API 3.0, "Batch subscribe or unsubscribe"
 *   Buttondown   openapi.json of github.com/buttondown/openapi
 *
 * A request that the documentation does not allow throws.
 */

import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'

export const SECRETS = {
  webhook: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  listmonk: 'rollcall:TOKEN',
  ghost: `6489f0c3b5a2c80001a1b2c3:${'ab'.repeat(32)}`,
  mailchimp: 'rollcall:KEY-us6',
  buttondown: 'KEY',
} as const

export type ServiceName = keyof typeof SECRETS

/** Every service refuses this address for good. */
export const REFUSED = 'refused@site.io'

export interface Call {
  readonly request: Request
  readonly text: string
  readonly members: Set<string>
}

export type Reply = readonly [status: number, body: unknown]

/** The part of a row of NDJSON that the webhook needs. */
const ROW = z.strictObject({ email: z.string(), subscribed_at: z.iso.datetime(), seq: z.int() })

const WEBHOOK = z.strictObject({
  // A full-stop delimited type of [a-zA-Z0-9_].
  type: z.string().regex(/^\w+(\.\w+)*$/),
  timestamp: z.iso.datetime(),
  data: z.strictObject({ subscribers: z.array(ROW).min(1) }),
})

export function receiveWebhook({ request, text, members }: Call): Reply {
  const [id, time, signatures] = ['id', 'timestamp', 'signature'].map(
    (name) => request.headers.get(`webhook-${name}`) ?? '',
  ) as [string, string, string]
  if (id === '' || id.includes('.')) throw new Error(`webhook-id: ${id}`)
  if (!/^\d+$/.test(time) || Math.abs(Date.now() / 1000 - Number(time)) > 300)
    throw new Error(`webhook-timestamp: ${time}`)
  const key = Buffer.from(SECRETS.webhook.slice('whsec_'.length), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${time}.${text}`).digest()
  const isSigned = signatures.split(' ').some((signature) => {
    const [version, value = ''] = signature.split(',')
    const bytes = Buffer.from(value, 'base64')
    return version === 'v1' && bytes.length === expected.length && timingSafeEqual(bytes, expected)
  })
  if (!isSigned) throw new Error('webhook-signature')
  const { subscribers } = WEBHOOK.parse(JSON.parse(text)).data
  expectSame(id, `rollcall-${subscribers[0]?.seq}-${subscribers.at(-1)?.seq}`)
  for (const { email } of subscribers) members.add(email.toLowerCase())
  return [202, {}]
}

const LISTMONK = z.strictObject({
  email: z.string(),
  name: z.string().min(1),
  status: z.enum(['enabled', 'blocklisted']),
  lists: z.array(z.int()).min(1),
})

export function addToListmonk({ request, text, members }: Call): Reply {
  expectBasic(request, SECRETS.listmonk)
  const email = LISTMONK.parse(JSON.parse(text)).email.toLowerCase()
  if (email === REFUSED) return [400, { message: 'Invalid e-mail.' }]
  if (members.has(email)) return [409, { message: 'E-mail already exists.' }]
  members.add(email)
  return [200, { data: { id: members.size, email } }]
}

const GHOST = z.strictObject({ members: z.array(z.strictObject({ email: z.string() })).length(1) })
const TOKEN_HEAD = z.strictObject({ alg: z.literal('HS256'), typ: z.literal('JWT'), kid: z.string() })
const TOKEN_CLAIMS = z.strictObject({ iat: z.int(), exp: z.int(), aud: z.literal('/admin/') })

export function addToGhost({ request, text, members }: Call): Reply {
  checkGhostToken(request.headers.get('authorization') ?? '')
  const email = GHOST.parse(JSON.parse(text)).members[0]?.email.toLowerCase() ?? ''
  const toError = (context: string) => ({ errors: [{ message: 'Validation error, cannot save member.', context }] })
  if (email === REFUSED) return [422, toError('Invalid Email')]
  if (members.has(email)) {
    return [422, toError('Member already exists. Attempting to add member with existing email address')]
  }
  members.add(email)
  return [201, { members: [{ id: String(members.size), email, subscribed: true }] }]
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

const MAILCHIMP = z.strictObject({
  members: z
    .array(z.strictObject({ email_address: z.string(), status: z.enum(['subscribed', 'pending']) }))
    .min(1)
    .max(500),
  update_existing: z.literal(false),
})

export function addToMailchimp({ request, text, members }: Call): Reply {
  expectBasic(request, SECRETS.mailchimp)
  const errors: { email_address: string; error: string; error_code: string }[] = []
  for (const { email_address } of MAILCHIMP.parse(JSON.parse(text)).members) {
    const email = email_address.toLowerCase()
    const refuse = (error_code: string, error: string) => errors.push({ email_address, error, error_code })
    if (email === REFUSED) refuse('ERROR_GENERIC', 'looks fake or invalid')
    else if (members.has(email)) refuse('ERROR_CONTACT_EXISTS', 'is already a list member')
    else members.add(email)
  }
  return [200, { new_members: [], updated_members: [], errors, error_count: errors.length }]
}

const BUTTONDOWN = z.strictObject({ email_address: z.string().max(254) })

export function addToButtondown({ request, text, members }: Call): Reply {
  expectSame(request.headers.get('authorization'), `Token ${SECRETS.buttondown}`)
  const email = BUTTONDOWN.parse(JSON.parse(text)).email_address.toLowerCase()
  if (email === REFUSED) return [400, { code: 'email_blocked', detail: 'That address is blocked.' }]
  if (members.has(email)) return [400, { code: 'email_already_exists', detail: 'That address is subscribed.' }]
  members.add(email)
  return [201, { id: String(members.size), email_address: email }]
}

function expectBasic(request: Request, user: string): void {
  expectSame(request.headers.get('authorization'), `Basic ${btoa(user)}`)
}

export function expectSame(actual: unknown, documented: unknown): void {
  if (actual !== documented) throw new Error(`it is ${actual}; documented is ${documented}`)
}
