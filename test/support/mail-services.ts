/** One server with the five services of docs/hand-over.md. Each keeps its members in memory. */

import {
  addToButtondown,
  addToGhost,
  addToListmonk,
  addToMailchimp,
  type Call,
  expectSame,
  type Reply,
  receiveWebhook,
  type ServiceName,
} from './mail-service-rules.ts'

export interface MailServices {
  readonly origin: string
  /** The addresses that each service has, in lower case, in the order in which they came. */
  readonly members: Readonly<Record<ServiceName, Set<string>>>
  /** The `webhook-id` of each request to the webhook. */
  readonly webhookIds: readonly string[]
  /** What was wrong with requests. */
  readonly problems: readonly string[]
  /** The number of requests that get the status 503, from now on. */
  failures: number
  /** The number of requests that are answered before those failures. */
  failAfter: number
  stop(): Promise<void>
}

/** Starts the server on a free port. */
export function startMailServices(): MailServices {
  const members = {
    webhook: new Set<string>(),
    listmonk: new Set<string>(),
    ghost: new Set<string>(),
    mailchimp: new Set<string>(),
    buttondown: new Set<string>(),
  }
  const problems: string[] = []
  const webhookIds: string[] = []
  const services: Record<string, readonly [ServiceName, (call: Call) => Reply]> = {
    '/newsletter': ['webhook', receiveWebhook],
    '/api/subscribers': ['listmonk', addToListmonk],
    '/ghost/api/admin/members/': ['ghost', addToGhost],
    '/3.0/lists/AUDIENCE': ['mailchimp', addToMailchimp],
    '/v1/subscribers': ['buttondown', addToButtondown],
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const service = services[pathname]
      const text = await request.text()
      if (service?.[0] === 'webhook') webhookIds.push(request.headers.get('webhook-id') ?? '')
      if (state.failAfter-- <= 0 && state.failures-- > 0) return new Response('', { status: 503 })
      try {
        if (service === undefined) throw new Error('no such path')
        const [name, answer] = service
        expectSame(request.method, 'POST')
        expectSame(request.headers.get('content-type'), 'application/json')
        const [status, body] = answer({ request, text, members: members[name] })
        return Response.json(body, { status })
      } catch (error) {
        problems.push(`${request.method} ${pathname}: ${error}`)
        return new Response('', { status: 500 })
      }
    },
  })
  const state = {
    origin: `http://127.0.0.1:${server.port}`,
    members,
    webhookIds,
    problems,
    failures: 0,
    failAfter: 0,
    stop: () => server.stop(true),
  }
  return state
}
