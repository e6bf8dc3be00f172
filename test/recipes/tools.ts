/**
 * Small servers that answer as the mail tools do, and refuse a request that the tool would not understand. Each keeps people
 * by address, with what the tool knows of them.
 * People who are listed come in pages of two. Sources:
 *
 *   listmonk     cmd/subscribers.go, cmd/lists.go, internal/core/subscribers.go, queries/subscribers.sql of version 6
 *   Ghost        docs.ghost.org/admin-api; api-key/admin.js and the repository of members in its source
 *   Mailchimp    Marketing API 3.0: "Batch subscribe or unsubscribe", "Get member info"; its errors from public issue threads
 *   Buttondown   openapi.json of github.com/buttondown/openapi
 *   webhook      Standard Webhooks 1.0.0
 */

import { expect } from 'bun:test'
import { createHash, createHmac } from 'node:crypto'

/**
 * What a tool knows of a person. `gone`: it keeps them away for good. `refused`: it never takes this address. `busy`: not now.
 * `broken`: it answers 500 for this address.
 */
export type State = 'added' | 'known' | 'elsewhere' | 'left' | 'gone' | 'refused' | 'busy' | 'broken'

export interface Tool {
  /** The settings of the recipe, but for the URL. */
  readonly settings: object
  /** Where the people are: by their address in lower case. */
  readonly people: Map<string, State>
  /** Responds to a request. What it throws is a request that the tool would not understand. */
  respond(request: Request, path: string): Promise<Response> | Response
}

const json = (status: number, body: object) => Response.json(body, { status })
const find = (people: ReadonlyMap<string, State>, email: string) => people.get(email.toLowerCase())

/** Adds a person whom the tool does not know. */
function add(people: Map<string, State>, email: string): State | undefined {
  const state = find(people, email)
  if (state === undefined) people.set(email.toLowerCase(), 'added')
  return state
}

/** Most people in a page of a list. */
const PAGE = 2

/** The addresses in one of some states, of a page from 1. */
function listPage(people: ReadonlyMap<string, State>, states: readonly State[], page: number) {
  const all = [...people].filter(([, state]) => states.includes(state)).map(([email]) => email)
  const start = (page - 1) * PAGE
  return { emails: all.slice(start, start + PAGE), hasMore: all.length > start + PAGE }
}

export function createListmonk(): Tool & { optins: number } {
  const people = new Map<string, State>()
  const ids: string[] = []
  const toLists = (state: State | undefined) =>
    state === 'elsewhere' ? [] : [{ id: 1, subscription_status: state === 'left' ? 'unsubscribed' : 'unconfirmed' }]
  const tool = {
    people,
    optins: 0,
    settings: { list: 1, user: 'rollcall', token: 'TOKEN' },
    async respond(request: Request, path: string) {
      if (request.headers.get('authorization') !== `Basic ${btoa('rollcall:TOKEN')}`)
        return json(403, { message: 'invalid' })
      const { pathname, searchParams } = new URL(path, request.url)
      if (pathname.startsWith('/api/lists/')) {
        return pathname === '/api/lists/1'
          ? json(200, { data: { id: 1, optin: 'double' } })
          : json(400, { message: 'List not found' })
      }
      if (request.method === 'GET') {
        expect(pathname).toBe('/api/subscribers')
        if (searchParams.has('list_id')) {
          const isBlocked = searchParams.get('query') === "subscribers.status = 'blocklisted'"
          if (!isBlocked) expect(searchParams.get('subscription_status')).toBe('unsubscribed')
          const { emails } = listPage(people, [isBlocked ? 'gone' : 'left'], Number(searchParams.get('page')))
          return json(200, { data: { results: emails.map((email) => ({ email })) } })
        }
        // The search is a regular expression of PostgreSQL, in any case.
        const search = new RegExp(searchParams.get('search')!, 'i')
        const results = [...people]
          .filter(([email]) => search.test(email))
          .map(([email, state]) => {
            return { id: ids.push(email), email, status: 'enabled', lists: toLists(state) }
          })
        return json(200, { data: { results } })
      }
      const body = (await request.json()) as { email: string; lists: unknown[]; ids: number[] }
      if (pathname === '/api/subscribers/lists') {
        expect(body).toMatchObject({ action: 'add', target_list_ids: [1], status: 'unconfirmed' })
        people.set(ids[body.ids[0]! - 1]!, 'added')
        return json(200, { data: true })
      }
      if (pathname.endsWith('/optin')) {
        tool.optins++
        return json(200, { data: true })
      }
      expect([request.method, pathname, body.lists]).toEqual(['POST', '/api/subscribers', [1]])
      const state = add(people, body.email)
      if (state === 'refused') return json(400, { message: 'The domain is blocklisted.' })
      if (state === 'broken') return json(500, { message: `pq: ${body.email}` })
      return state === undefined
        ? json(200, { data: { email: body.email, lists: [{ id: 1 }] } })
        : json(409, { message: 'E-mail already exists.' })
    },
  }
  return tool
}

const GHOST_KEY = { id: '6489f0c3b5a2c80001a1b2c3', secret: 'ab'.repeat(32) }

export function createGhost(): Tool & { hasNewsletter: boolean } {
  const people = new Map<string, State>()
  const toError = (context: string) => ({ errors: [{ message: 'Validation error, cannot save member.', context }] })
  const tool = {
    people,
    hasNewsletter: true,
    settings: { key: `${GHOST_KEY.id}:${GHOST_KEY.secret}` },
    async respond(request: Request, path: string) {
      checkToken(request.headers)
      const { pathname, searchParams } = new URL(path, request.url)
      if (pathname === '/ghost/api/admin/newsletters/') {
        expect(searchParams.get('filter')).toBe('status:active+subscribe_on_signup:true+visibility:members')
        return json(200, { newsletters: tool.hasNewsletter ? [{ id: 'n' }] : [] })
      }
      expect(pathname).toBe('/ghost/api/admin/members/')
      if (searchParams.get('filter') === 'subscribed:false,email_disabled:1') {
        const page = Number(searchParams.get('page'))
        const { emails, hasMore } = listPage(people, ['left', 'gone'], page)
        const meta = { pagination: { next: hasMore ? page + 1 : null } }
        return json(200, { members: emails.map((email) => ({ email })), meta })
      }
      if (request.method === 'GET') {
        // A string of NQL, with its escapes.
        const [, email = ''] = /^email:'((?:[^'\\]|\\.)*)'$/.exec(searchParams.get('filter')!)!
        const state = find(people, email.replace(/\\(.)/g, '$1'))
        const newsletters = state === 'left' ? [] : [{ id: 'n' }]
        return json(200, {
          members: state === undefined ? [] : [{ newsletters, email_suppression: { suppressed: false } }],
        })
      }
      const { members } = (await request.json()) as { members: { email: string }[] }
      expect(members).toHaveLength(1)
      const state = add(people, members[0]!.email)
      if (state === undefined) return json(201, { members })
      if (state === 'broken') return json(500, { errors: [{ message: `cannot save ${members[0]!.email}` }] })
      return json(
        422,
        toError(
          state === 'refused'
            ? 'Invalid Email'
            : 'Member already exists. Attempting to add member with existing email address',
        ),
      )
    },
  }
  return tool
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

/** Its audience has a required merge field, which refuses everybody unless the request skips it. */
export function createMailchimp(): Tool {
  const people = new Map<string, State>()
  const errors: Readonly<Record<State, readonly [code: string, text: string] | undefined>> = {
    added: ['ERROR_CONTACT_EXISTS', 'is already a list member'],
    known: ['ERROR_CONTACT_EXISTS', 'is already a list member'],
    elsewhere: undefined,
    left: ['ERROR_CONTACT_EXISTS', 'is already a list member'],
    gone: ['ERROR_GENERIC', 'is in a compliance state due to unsubscribe, bounce, or compliance review'],
    refused: ['ERROR_GENERIC', 'looks fake or invalid, please enter a real email address.'],
    broken: ['ERROR_GENERIC', 'cannot be saved'],
    busy: ['ERROR_GENERIC', "has signed up to a lot of lists very recently; we're not allowing more signups for now"],
  }
  return {
    people,
    settings: { key: 'KEY-us6', audience: 'AUDIENCE' },
    async respond(request, path) {
      expect(request.headers.get('authorization')).toBe(`Basic ${btoa('rollcall:KEY-us6')}`)
      const { pathname, searchParams } = new URL(path, request.url)
      if (request.method === 'GET' && pathname === '/3.0/lists/AUDIENCE/members') {
        const state = searchParams.get('status') === 'cleaned' ? 'gone' : 'left'
        const { emails } = listPage(people, [state], Number(searchParams.get('offset')) / PAGE + 1)
        return json(200, { members: emails.map((email_address) => ({ email_address })) })
      }
      if (request.method === 'GET') {
        const entry = [...people].find(([email]) => {
          return pathname === `/3.0/lists/AUDIENCE/members/${createHash('md5').update(email).digest('hex')}`
        })
        return entry
          ? json(200, { status: entry[1] === 'left' ? 'unsubscribed' : 'subscribed' })
          : json(404, { detail: 'The requested resource could not be found.' })
      }
      expect(pathname).toBe('/3.0/lists/AUDIENCE')
      const { members, update_existing } = (await request.json()) as {
        members: { email_address: string }[]
        update_existing: boolean
      }
      expect(update_existing).toBeFalse()
      const isSkipped = searchParams.get('skip_merge_validation') === 'true'
      const found = members.flatMap(({ email_address }) => {
        if (!isSkipped)
          return [{ email_address, error_code: 'ERROR_GENERIC', error: 'Your merge fields were invalid.' }]
        const state = add(people, email_address)
        const [error_code, text] = (state && errors[state]) ?? []
        return error_code ? [{ email_address, error_code, error: `${email_address} ${text}` }] : []
      })
      return json(200, { errors: found })
    },
  }
}

export function createButtondown(): Tool {
  const people = new Map<string, State>()
  return {
    people,
    settings: { key: 'KEY' },
    async respond(request, path) {
      if (request.headers.get('authorization') !== 'Token KEY') return json(401, { detail: 'Invalid token.' })
      const { pathname, searchParams, origin } = new URL(path, request.url)
      if (request.method === 'GET' && pathname === '/v1/subscribers') {
        expect(searchParams.getAll('type')).toContain('unsubscribed')
        const page = Number(searchParams.get('page') ?? 1)
        const { emails, hasMore } = listPage(people, ['left', 'gone'], page)
        searchParams.set('page', String(page + 1))
        const next = hasMore ? `${origin}/v1/subscribers?${searchParams}` : null
        return json(200, { results: emails.map((email_address) => ({ email_address })), next })
      }
      if (request.method === 'GET') {
        const state = find(people, decodeURIComponent(pathname.replace('/v1/subscribers/', '')))
        return json(200, { type: state === 'left' ? 'unsubscribed' : 'regular' })
      }
      expect(pathname).toBe('/v1/subscribers')
      const { email_address, ...others } = (await request.json()) as { email_address: string }
      expect(others).toEqual({})
      // The schema of its request allows fewer characters than RFC 5321.
      if (!/^[a-zA-Z0-9.'_%+\-!]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}$/.test(email_address)) {
        return json(422, {
          detail: [{ type: 'string_pattern_mismatch', loc: ['body', 'input', 'email_address'], msg: 'no' }],
        })
      }
      const state = add(people, email_address)
      if (state === undefined) return json(201, { id: '1' })
      if (state === 'broken') return json(500, { detail: `cannot save ${email_address}` })
      return json(400, { code: state === 'refused' ? 'email_blocked' : 'email_already_exists', detail: 'no' })
    },
  }
}

const WEBHOOK_KEY = Buffer.alloc(32, 7)

export function createWebhook(): Tool & { ids: string[] } {
  const people = new Map<string, State>()
  const ids: string[] = []
  return {
    people,
    ids,
    settings: { secret: `whsec_${WEBHOOK_KEY.toString('base64')}` },
    async respond(request) {
      const text = await request.text()
      const [id, time, signature] = ['id', 'timestamp', 'signature'].map((name) =>
        request.headers.get(`webhook-${name}`),
      )
      expect(Math.abs(Date.now() / 1000 - Number(time))).toBeLessThan(300)
      expect(signature).toBe(`v1,${createHmac('sha256', WEBHOOK_KEY).update(`${id}.${time}.${text}`).digest('base64')}`)
      const { type, data } = JSON.parse(text)
      const { subscribers } = data
      expect([type, id]).toEqual(['subscribers.added', expect.stringMatching(/^rollcall-[0-9a-f]{32}$/)])
      ids.push(String(id))
      for (const { email } of subscribers) add(people, email)
      return new Response(null, { status: 204 })
    },
  }
}
