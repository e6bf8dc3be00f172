import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { MAX_BODY_BYTES } from '../../src/limits.ts'
import { DOCUMENTS, ENDPOINT } from '../../src/routes.ts'
import { addresses, texts } from '../support/email-arbitraries.ts'
import { readList } from '../support/list-file.ts'
import { type Reply, type RunningService, startService } from '../support/service.ts'

let service: RunningService
/** What the service publishes of an address. */
let published: { readonly pattern: RegExp; readonly maxLength: number }
const accepted = new Set<string>()

beforeAll(async () => {
  service = await startService()
  const description = JSON.parse((await service.request(DOCUMENTS.openApiJson.path)).body)
  const { pattern, maxLength } = description.components.schemas.Subscription.properties.email
  published = { pattern: new RegExp(pattern, 'u'), maxLength }
})
afterAll(() => service.stop())

test('whatever the body and its media type, the answer is a declared one, and tells what the contract says', async () => {
  await fc.assert(
    fc.asyncProperty(bodies(), mediaTypes(), fc.boolean(), async (body, type, chunked) => {
      // `request` throws at what is not declared.
      const reply = await post(body, type, chunked)
      expect(reply.status).toBe(expectedStatus(body, type))
    }),
    { numRuns: 2000 },
  )
})

test('the endpoint takes just what the published pattern takes after trimming', async () => {
  const outcomes = { taken: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(paddedTexts(), async (email) => {
      const { status } = await service.subscribe(email)
      expect(status).toBe(isPublished(email) ? 200 : 400)
      outcomes[status === 200 ? 'taken' : 'refused']++
      if (status === 200) accepted.add(email.trim().toLowerCase())
    }),
    { numRuns: 2000 },
  )
  // Else one half of the claim was never tried.
  expect(Math.min(outcomes.taken, outcomes.refused)).toBeGreaterThan(200)
})

test('what was taken is on the list, once, in a spelling of its own', async () => {
  const list = await readList(service.folder)
  expect(list.map((email) => email.toLowerCase()).sort()).toEqual([...accepted].sort())
})

/** The contract in the words of its table. */
function expectedStatus(body: Uint8Array, type: string): number {
  if (!/^application\/json[ \t]*(;|$)/i.test(type.trim())) return 415
  if (body.length > MAX_BODY_BYTES) return 413
  const value = parseJson(new TextDecoder().decode(body))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 400
  const email = 'email' in value ? value.email : undefined
  if (typeof email !== 'string' || !isPublished(email)) return 400
  accepted.add(email.trim().toLowerCase())
  return 200
}

function isPublished(text: string): boolean {
  const trimmed = text.trim()
  return trimmed.length <= published.maxLength && published.pattern.test(trimmed)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function post(body: Uint8Array<ArrayBuffer>, type: string, chunked: boolean): Promise<Reply> {
  return service.request(ENDPOINT.path, {
    method: 'POST',
    headers: { 'Content-Type': type },
    body: chunked ? toStream(body) : body,
  })
}

/** What is sent without a length: in two chunks. */
function toStream(body: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(body.subarray(0, body.length / 2))
      controller.enqueue(body.subarray(body.length / 2))
      controller.close()
    },
  })
}

function bodies(): fc.Arbitrary<Uint8Array<ArrayBuffer>> {
  const encode = (text: string) => new TextEncoder().encode(text)
  const objects = fc.oneof(
    fc.record({ email: paddedTexts() }),
    fc.record(
      { email: fc.oneof(paddedTexts(), fc.jsonValue()), other: fc.jsonValue() },
      { requiredKeys: [] },
    ),
  )
  const documents = fc
    .oneof(
      fc.json(),
      objects.map((value) => JSON.stringify(value)),
    )
    .map(encode)
  const broken = fc
    .tuple(documents, fc.nat(), fc.nat({ max: 2 }), fc.uint8Array({ maxLength: 3 }))
    .map(([bytes, position, removed, added]) => {
      const at = position % (bytes.length + 1)
      return new Uint8Array([...bytes.subarray(0, at), ...added, ...bytes.subarray(at + removed)])
    })
  const large = fc
    .tuple(documents, fc.nat({ max: 64 }))
    .map(
      ([bytes, more]) =>
        new Uint8Array([...bytes, ...encode(' '.repeat(MAX_BODY_BYTES - 32 + more - bytes.length))]),
    )
  return fc.oneof(
    { arbitrary: documents, weight: 4 },
    { arbitrary: broken, weight: 4 },
    fc.uint8Array().map((bytes) => new Uint8Array(bytes)),
    large,
  )
}

/** Most of them right, so that bodies are looked at; all of them are fields that may be sent. */
function mediaTypes(): fc.Arbitrary<string> {
  const token = fc.string({ unit: fc.constantFrom(...'aj/;= "+.*,\t\u00E9'), maxLength: 12 })
  const right = fc.constantFrom(
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/json ;x="y"',
  )
  return fc.oneof(
    { arbitrary: right, weight: 6 },
    token,
    fc.tuple(right, token).map((parts) => parts.join('')),
    fc.constantFrom('text/plain', 'application/jsonp', 'multipart/form-data; boundary=x'),
  )
}

/** Texts that are addresses, or nearly, with white space around them, or what may be taken for it. */
function paddedTexts(): fc.Arbitrary<string> {
  const unit = fc.constantFrom(' ', '\t', '\n', '\u00A0', '\u3000', '\uFEFF', '\u200B', '\0')
  const blanks = fc.string({ unit, maxLength: 2 })
  return fc.oneof(
    texts(),
    fc.tuple(blanks, addresses(), blanks).map((parts) => parts.join('')),
  )
}
