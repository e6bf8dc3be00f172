/**
 * Simulates an agent that knows only BASE_URL and HTTP. It finds the description in each of several ways, builds the
 * request from it, and corrects its mistakes by the hints alone.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type RunningService, runCommand, startService } from '../support/service.ts'

const BASE_URL = 'https://www.gazette.example'

let service: RunningService
beforeAll(async () => {
  service = await startService({ env: { BASE_URL } })
})
afterAll(() => service.stop())

/** A request of the agent. */
interface Attempt {
  readonly method: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

// biome-ignore lint/suspicious/noExplicitAny: the agent reads JSON of any shape.
type Json = any

/** Sends a request to BASE_URL, which is this service. Checks the response like all others. */
async function send({ method, url, headers = {}, body }: Attempt) {
  const { pathname, search, origin } = new URL(url)
  expect(origin).toBe(BASE_URL)
  const init = { method, headers, ...(body !== undefined && { body }) }
  if (pathname !== '/') return await service.request(pathname + search, init)
  // The page is not in the description.
  const response = await fetch(service.origin + pathname, init)
  return { status: response.status, headers: response.headers, body: await response.text() }
}

function read(url: string) {
  return send({ method: 'GET', url })
}

async function readJson(url: string): Promise<Json> {
  return JSON.parse((await read(url)).body)
}

describe('the agent finds the description', () => {
  const ways: Record<string, () => Promise<string>> = {
    'by the Link header of BASE_URL': async () => {
      const { headers } = await read(`${BASE_URL}/`)
      return /<([^>]+)>; rel="service-desc"/.exec(headers.get('link')!)![1]!
    },
    'by the Link header of an unknown path': async () => {
      const { headers } = await send({ method: 'HEAD', url: `${BASE_URL}/docs` })
      return /<([^>]+)>; rel="service-desc"/.exec(headers.get('link')!)![1]!
    },
    'by the API catalog': async () => {
      const { linkset } = await readJson(`${BASE_URL}/.well-known/api-catalog`)
      const [{ item }] = linkset
      return linkset.find(({ anchor }: Json) => anchor === item[0].href)['service-desc'][0].href
    },
    'by llms.txt': async () => {
      const { body } = await read(`${BASE_URL}/llms.txt`)
      return /^## Developer resources\n\n- \[API description[^\]]*\]\(([^)]+)\)/m.exec(body)![1]!
    },
    'by a request for Markdown to BASE_URL': async () => {
      const url = `${BASE_URL}/`
      const { body } = await send({ method: 'GET', url, headers: { Accept: 'text/markdown' } })
      return /\]\(([^)]+\.json)\)/.exec(body)![1]!
    },
    'by the hint of an error': async () => {
      const { error } = await readJson(`${BASE_URL}/api`)
      return BASE_URL + /Read (\S+) for all paths/.exec(error.hint)![1]!
    },
    'by the protected-resource metadata, through the guide': async () => {
      const metadata = await readJson(`${BASE_URL}/.well-known/oauth-protected-resource`)
      expect(metadata.resource).toBe(BASE_URL)
      const { body } = await read(metadata.resource_documentation)
      return /\]\(([^)]+\.json)\)/.exec(body)![1]!
    },
  }
  for (const [name, find] of Object.entries(ways)) {
    test(name, async () => {
      const description = await readJson(await find())
      expect(description.openapi).toBe('3.1.0')
      expect((await send(createCall(description, `found@${findSandbox(description)}`))).status).toBe(200)
    })
  }
})

test('the agent subscribes an address in a reserved domain, from the description alone', async () => {
  const description = await readDescription()
  const { post } = findOperation(description)
  const address = `agent@${findSandbox(description)}`
  const reply = await send(createCall(description, address))
  expect([reply.status, reply.body]).toEqual([200, '{"ok":true}'])
  expect(Object.keys(post.responses)).toContain(String(reply.status))
  expect(post.security).toEqual([])
})

describe('the agent corrects a mistake by the hint', () => {
  const JSON_TYPE = { 'Content-Type': 'application/json' }
  const url = `${BASE_URL}/api/newsletter`
  const post = (email: unknown): Attempt => ({
    method: 'POST',
    url,
    headers: JSON_TYPE,
    body: JSON.stringify({ email }),
  })
  const mistakes: Record<string, Attempt> = {
    'a path that it guessed': { ...post('a1@agent.example'), url: `${BASE_URL}/subscribe` },
    'a method that it guessed': { ...post('a2@agent.example'), method: 'PUT' },
    'a read with POST': { method: 'POST', url: `${BASE_URL}/openapi.json` },
    'a form': {
      method: 'POST',
      url,
      headers: { 'Content-Type': 'text/plain' },
      body: '{"email":"a3@agent.example"}',
    },
    'no body': { method: 'POST', url, headers: JSON_TYPE },
    'an incomplete body': { method: 'POST', url, headers: JSON_TYPE, body: '{"email":"a4@agent.exa' },
    'an array': { method: 'POST', url, headers: JSON_TYPE, body: '["a5@agent.example"]' },
    'a body of 20 KB': {
      method: 'POST',
      url,
      headers: JSON_TYPE,
      body: JSON.stringify({ email: 'a6@agent.example', notes: 'x'.repeat(20_000) }),
    },
    'a wrong member name': {
      method: 'POST',
      url,
      headers: JSON_TYPE,
      body: JSON.stringify({ mail: 'a7@agent.example' }),
    },
    'an object instead of an address': post({ address: 'a8@agent.example' }),
    'an empty address': post('  '),
    'half an address': post('a9'),
    'an address with a display name': post('Ay Nine <a9@agent.example>'),
    'two addresses': post('a10@agent.example, a11@agent.example'),
    'a domain outside ASCII': post('a12@bücher.example'),
    'a local part outside ASCII': post('ää@agent.example'),
    'an address that is too long': post(`${'a'.repeat(65)}@agent.example`),
  }
  const used = new Set<string>()

  for (const [name, attempt] of Object.entries(mistakes)) {
    test(name, async () => {
      let next = attempt
      let reply = await send(next)
      expect(reply.status).toBeGreaterThanOrEqual(400)
      for (let tries = 0; tries < 3 && reply.status !== 200; tries++) {
        const { hint } = JSON.parse(reply.body).error
        next = await correct(next, hint)
        used.add(hint)
        reply = await send(next)
      }
      expect({ next, status: reply.status }).toEqual({ next, status: 200 })
    })
  }

  test('and has followed every hint of the description, except those that say to repeat the request', async () => {
    const { components } = await readDescription()
    const examples: Json[] = Object.values(components.examples)
    const hints: string[] = examples.map(({ value }) => value.error?.hint).filter(Boolean)
    const rest = hints.filter((hint) => !used.has(hint))
    expect(rest).toHaveLength(2)
    for (const hint of rest) expect(hint).toMatch(/repeat(?:ed)? (?:it )?as it is/)
  })
})

test('the list has the addresses that the agent subscribed', async () => {
  const { stdout } = await runCommand(['count'], { folder: service.folder })
  expect(Number(stdout)).toBeGreaterThan(10)
})

/** What to do for each hint, by its words. */
const ADVICE: readonly (readonly [words: RegExp, follow: (attempt: Attempt, found: RegExpExecArray) => unknown])[] = [
  [
    /Read (\S+) for all paths/,
    async (attempt, [, path]) => {
      const description = await readJson(BASE_URL + path)
      return { ...createCall(description, ''), body: attempt.body }
    },
  ],
  [/Use GET or/, (attempt) => ({ method: 'GET', url: attempt.url })],
  [/Use (POST)\./, (attempt, [, method]) => ({ ...attempt, method })],
  [
    /Send the header ([^:]+): (\S+)\./,
    (attempt, [, name, value]) => ({ ...attempt, headers: { ...attempt.headers, [name!]: value! } }),
  ],
  [
    /Add the member "(\w+)"/,
    (attempt, [, name]) => withBody(attempt, { [name!]: Object.values(JSON.parse(attempt.body!))[0] }),
  ],
  [
    /Send "(\w+)" as a string/,
    (attempt, [, name]) => {
      const [inner] = Object.values(JSON.parse(attempt.body!)[name!])
      return withBody(attempt, { [name!]: inner })
    },
  ],
  [/Send at most \d+ bytes: one address per request/, (attempt) => withEmail(attempt, toEmail(attempt))],
  [/Send only the text between the brackets/, (attempt) => withEmail(attempt, /<(.+)>/.exec(toEmail(attempt))![1]!)],
  [/one request for each address/, (attempt) => withEmail(attempt, toEmail(attempt).split(',')[0]!)],
  [
    /in its ASCII form, which begins with xn--/,
    (attempt) => {
      const [local, domain] = toEmail(attempt).split('@')
      return withEmail(attempt, `${local}@${new URL(`http://${domain}`).hostname}`)
    },
  ],
  [
    /in printable ASCII without spaces/,
    (attempt) =>
      withEmail(
        attempt,
        toEmail(attempt)
          .normalize('NFD')
          .replace(/[^ -~]/g, ''),
      ),
  ],
  [
    /at most (\d+) before the @/,
    (attempt, [, most]) => {
      const [local, domain] = toEmail(attempt).split('@')
      return withEmail(attempt, `${local!.slice(0, Number(most))}@${domain}`)
    },
  ],
  [/Send a JSON object such as (\{[^}]+\})/, (attempt, [, body]) => ({ ...attempt, body })],
  [/^Send one address such as (\S+),/, (attempt, [, address]) => withEmail(attempt, address!)],
]

/** Follows the first advice in the hint. */
async function correct(attempt: Attempt, hint: string): Promise<Attempt> {
  for (const [words, follow] of ADVICE) {
    const found = words.exec(hint)
    if (found) return (await follow(attempt, found)) as Attempt
  }
  throw new Error(`the agent does not understand the hint: ${hint}`)
}

function toEmail({ body }: Attempt): string {
  return JSON.parse(body!).email
}

function withEmail(attempt: Attempt, email: string): Attempt {
  return withBody(attempt, { email })
}

function withBody(attempt: Attempt, body: object): Attempt {
  return { ...attempt, body: JSON.stringify(body) }
}

async function readDescription(): Promise<Json> {
  const { headers } = await read(`${BASE_URL}/`)
  return await readJson(/<([^>]+)>; rel="service-desc"/.exec(headers.get('link')!)![1]!)
}

/** Finds the operation with a POST. */
function findOperation({ paths }: Json): { path: string; post: Json } {
  const [path, item] = Object.entries<Json>(paths).find(([, { post }]) => post)!
  return { path, post: item.post }
}

/** Builds the request for an address from the server, the path, the media type and the required member of the schema. */
function createCall(description: Json, address: string): Attempt {
  const { path, post } = findOperation(description)
  const [mediaType, content] = Object.entries<Json>(post.requestBody.content)[0]!
  const schema = content.schema.$ref
    .split('/')
    .slice(1)
    .reduce((node: Json, step: string) => node[step], description)
  const [member] = schema.required
  return {
    method: 'POST',
    url: description.servers[0].url + path,
    headers: { 'Content-Type': mediaType },
    body: JSON.stringify({ [member]: address }),
  }
}

/** Returns the first reserved domain that the operation offers for tests. */
function findSandbox(description: Json): string {
  const { post } = findOperation(description)
  return /To try it out.+?reserved domain \(([^,]+),/.exec(post.description)![1]!
}
