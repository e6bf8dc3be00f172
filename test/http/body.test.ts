/** Bodies and media types, chosen and random: which the endpoint accepts, and which reason refuses the others. */

import { afterAll, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { oas31 } from 'openapi3-ts'
import { addresses, texts } from '../addresses.ts'
import { ENDPOINT, GOLDEN, MAX_BODY_BYTES, type RESPONSES } from '../support/contract.ts'
import { readList } from '../support/list-file.ts'
import { ROOT } from '../support/paths.ts'
import { expectResponse, POST_HEADERS, post } from '../support/raw.ts'
import { parseJson } from '../support/response-check.ts'
import { startService } from '../support/service.ts'

const [HOST] = POST_HEADERS

const service = await startService()
afterAll(() => service.stop())

/** The addresses that got a 200. */
const accepted: string[] = []

/** The reason why a request is refused, or the address that it puts on the list. */
type Outcome = Exclude<keyof typeof RESPONSES, 'accepted' | 'rate_limited'> | { readonly email: string }

/** Posts a body, and compares the response with the expected outcome. */
async function expectPost(body: string | Uint8Array, outcome: Outcome, headers?: readonly string[]): Promise<void> {
  const reply = await post(service, body, headers)
  if (typeof outcome === 'string') return expectResponse(reply, outcome)
  expectResponse(reply, 'accepted')
  accepted.push(outcome.email)
}

const JSON_OK = (email: string) => JSON.stringify({ email })
const latin1 = (text: string) => Buffer.from(text, 'latin1')
const deep = `${'['.repeat(8000)}${']'.repeat(8000)}`

test.each<readonly [string, string | Uint8Array, Outcome]>([
  ['white space', ' \t\r\n', 'no_body'],
  ['only a byte order mark', '\uFEFF', 'no_body'],
  ['a byte order mark before the JSON', `\uFEFF${JSON_OK('bom@example.org')}`, { email: 'bom@example.org' }],
  ['malformed UTF-8 in the address', latin1('{"email":"\xff@example.org"}'), 'non_ascii'],
  ['malformed UTF-8 outside strings', latin1('{\xff"email":"a@b.example"}'), 'malformed_json'],
  ['malformed UTF-8 elsewhere', latin1('{"email":"utf8@example.org","a":"\xff"}'), { email: 'utf8@example.org' }],
  ['a surrogate half as an escape', '{"email":"\\ud800@example.org"}', 'non_ascii'],
  ['an invisible character in the address', '{"email":"name\u200b@example.org"}', 'invisible'],
  ['a NUL in the address', '{"email":"nul\\u0000@example.org"}', 'non_ascii'],
  ['two objects', '{"email":"a@example.org"}{}', 'malformed_json'],
  ['a form', 'email=a@example.org', 'malformed_json'],
  ['null', 'null', 'not_an_object'],
  ['an array', '[{"email":"a@example.org"}]', 'not_an_object'],
  ['nested arrays without end', '['.repeat(MAX_BODY_BYTES), 'malformed_json'],
  ['a member name in another case', '{"Email":"a@example.org"}', 'missing'],
  ['an address of null', '{"email":null}', 'not_a_string'],
  ['an address in __proto__', '{"__proto__":{"email":"a@example.org"}}', 'missing'],
  ['white space everywhere', ' \r\n\t{"email":" \u00A0blank@example.org\u2003"}\n ', { email: 'blank@example.org' }],
  ['escaped characters', '{"\\u0065mail":"esc\\u0061pe@example.org"}', { email: 'escape@example.org' }],
  ['two addresses, the last valid', '{"email":1,"email":"last@example.org"}', { email: 'last@example.org' }],
  ['two addresses, the last invalid', '{"email":"first@example.org","email":1}', 'not_a_string'],
  ['other members', `{"ok":false,"email":"other@example.org","":${deep}}`, { email: 'other@example.org' }],
])('a body of %s', async (_, body, outcome) => {
  await expectPost(body, outcome)
})

test.each([
  'application/json',
  'application/json ; charset="utf-8"',
  'application/json; charset=utf-16',
  'application/json; profile="a;b"; x=y',
  ' application/json ',
])('the media type "%s" is accepted', async (type) => {
  await expectPost(JSON_OK('type@example.org'), { email: 'type@example.org' }, [HOST, `Content-Type:${type}`])
})

test.each([
  [''],
  ['text/plain'],
  ['text/plain;application/json'],
  ['application/json, application/json'],
  ['application/json', 'application/json'],
  ['application/problem+json'],
  ['application/x-www-form-urlencoded'],
  [],
])('the media type "%s" is refused with any body', async (...types) => {
  const headers = [HOST, ...types.map((type) => `Content-Type: ${type}`)]
  for (const body of [JSON_OK('refused@example.org'), '', ' '.repeat(MAX_BODY_BYTES)]) {
    const reason = types.join().includes('json,') ? 'two_media_types' : 'media_type'
    await expectPost(body, reason, headers)
  }
})

// The service decodes no content coding: it parses the bytes as JSON.
test.each(['gzip', 'br', 'identity', 'nonsense'])(
  'Content-Encoding: %s of a body that is JSON is ignored',
  async (coding) => {
    const headers = [...POST_HEADERS, `Content-Encoding: ${coding}`]
    await expectPost(JSON_OK('coded@example.org'), { email: 'coded@example.org' }, headers)
    await expectPost(gzipSync(JSON_OK('coded@example.org')), 'content_coding', headers)
  },
)

test('any body with any media type gets the status of the contract, by the published pattern', async () => {
  const { pattern, maxLength = 0 } = (GOLDEN.components!.schemas!.Subscription as oas31.SchemaObject).properties!
    .email as oas31.SchemaObject
  const statuses = new Map<number, number>()

  function expectedStatus(body: Uint8Array, type: string): number {
    if (!/^application\/json[ \t]*(;|$)/i.test(type.trim())) return 415
    if (body.length > MAX_BODY_BYTES) return 413
    const value = parseJson(new TextDecoder().decode(body))
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 400
    const email = 'email' in value && typeof value.email === 'string' ? value.email.trim() : ''
    if (email.length > maxLength || !new RegExp(pattern!, 'u').test(email)) return 400
    accepted.push(email)
    return 200
  }

  await fc.assert(
    fc.asyncProperty(bodies(), mediaTypes(), async (body, type) => {
      const init = { method: 'POST', headers: { 'Content-Type': type }, body }
      // Throws when the description does not declare the response.
      const { status } = await service.request(ENDPOINT.path, init)
      expect(status).toBe(expectedStatus(body, type))
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }),
    { numRuns: 1500 },
  )
  // Otherwise a part of the claim is not tested.
  for (const status of [200, 400, 413, 415]) expect(statuses.get(status)).toBeGreaterThan(20)
})

test('the list has the addresses that got a 200, and no others', async () => {
  const toIdentities = (addresses: readonly string[]) => addresses.map((email) => email.toLowerCase()).sort()
  expect(toIdentities(await readList(service.folder))).toEqual([...new Set(toIdentities(accepted))])
})

/** Bodies of which most are almost right: a part is cut out of some, and some are about as large as the limit. */
function bodies(): fc.Arbitrary<Uint8Array<ArrayBuffer>> {
  const blanks = fc.string({ unit: fc.constantFrom(' ', '\n', '\u00A0', '\uFEFF', '\u200B', '\0'), maxLength: 2 })
  const padded = fc.tuple(blanks, addresses(), blanks).map((parts) => parts.join(''))
  const email = fc.oneof(texts(), addresses(), padded, fc.jsonValue())
  const values = fc.oneof(fc.record({ email }), fc.record({ email, other: fc.jsonValue() }), fc.jsonValue())
  const whole = values.map((value) => JSON.stringify(value))
  const cut = fc
    .tuple(whole, fc.nat(), fc.nat({ max: 2 }), fc.string({ maxLength: 2 }))
    .map(([text, nat, removed, added]) => {
      const at = nat % (text.length + 1)
      return text.slice(0, at) + added + text.slice(at + removed)
    })
  const large = fc.tuple(whole, fc.nat({ max: 64 })).map(([text, more]) => text.padEnd(MAX_BODY_BYTES - 32 + more))
  const encode = (text: string) => new TextEncoder().encode(text)
  return fc.oneof({ arbitrary: whole, weight: 4 }, { arbitrary: cut, weight: 4 }, large).map(encode)
}

/** Media types that a header may have. Most are right, so that bodies are read. */
function mediaTypes(): fc.Arbitrary<string> {
  const right = fc.constantFrom('application/json', 'Application/JSON; charset=utf-8', 'application/json ;x="y"')
  const more = fc.string({ unit: fc.constantFrom(...'aj/;= "+.*,\t\u00E9'), maxLength: 12 })
  const near = fc.tuple(right, more).map((parts) => parts.join(''))
  return fc.oneof({ arbitrary: right, weight: 6 }, near, fc.constantFrom('text/plain', 'application/jsonp'))
}

test('a body that has arrived leaves no timer, which would wake an idle machine up for ever', () => {
  const script = `import { createBodyReader } from '${ROOT}/src/http/body.ts'
    const request = new Request('http://a.example/', { method: 'POST', body: '{}', headers: { 'Content-Length': '2' } })
    console.log(await createBodyReader().read(request))`
  // A process ends when nothing is left to wait for.
  const { exitCode, stdout } = Bun.spawnSync([process.execPath, '-e', script], { timeout: 20_000 })
  expect([exitCode, stdout.toString()]).toEqual([0, '{}\n'])
})
