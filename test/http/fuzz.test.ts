/** Random bodies, media types and addresses: every response is the one that the contract declares. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { addresses, texts } from '../support/addresses.ts'
import { DOCUMENTS, ENDPOINT, MAX_BODY_BYTES } from '../support/contract.ts'
import { readList } from '../support/list-file.ts'
import { type Reply, type RunningService, startService } from '../support/service.ts'

let service: RunningService
/** The address rule as the service publishes it. */
let published: { readonly pattern: RegExp; readonly maxLength: number }
const accepted = new Set<string>()

beforeAll(async () => {
  service = await startService()
  const description = JSON.parse((await service.request(DOCUMENTS.openApiJson.path)).body)
  const { pattern, maxLength } = description.components.schemas.Subscription.properties.email
  published = { pattern: new RegExp(pattern, 'u'), maxLength }
})
afterAll(() => service.stop())

test('any body with any media type gets the status of the contract, in a declared response', async () => {
  await fc.assert(
    fc.asyncProperty(bodies(), mediaTypes(), fc.boolean(), async (body, type, chunked) => {
      // `request` throws when the response is not declared.
      const reply = await post(body, type, chunked)
      expect(reply.status).toBe(expectedStatus(body, type))
    }),
    { numRuns: 1000 },
  )
})

test('the endpoint accepts exactly the texts that match the published pattern after trimming', async () => {
  const counts = { accepted: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(paddedTexts(), async (email) => {
      const { status } = await service.subscribe(email)
      expect(status).toBe(isPublished(email) ? 200 : 400)
      counts[status === 200 ? 'accepted' : 'refused']++
      if (status === 200) accepted.add(email.trim().toLowerCase())
    }),
    { numRuns: 1000 },
  )
  // Otherwise one half of the claim is not tested.
  expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(100)
})

test('the list has every accepted identity once', async () => {
  const list = await readList(service.folder)
  expect(list.map((email) => email.toLowerCase()).sort()).toEqual([...accepted].sort())
})

/** Returns the status that the table of the contract gives. */
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

/** Makes a stream of two chunks, which is sent without a Content-Length. */
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
    fc.record({ email: fc.oneof(paddedTexts(), fc.jsonValue()), other: fc.jsonValue() }, { requiredKeys: [] }),
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
      ([bytes, more]) => new Uint8Array([...bytes, ...encode(' '.repeat(MAX_BODY_BYTES - 32 + more - bytes.length))]),
    )
  return fc.oneof(
    { arbitrary: documents, weight: 4 },
    { arbitrary: broken, weight: 4 },
    fc.uint8Array().map((bytes) => new Uint8Array(bytes)),
    large,
  )
}

/** Media types that a header may have. Most are right, so that bodies are read. */
function mediaTypes(): fc.Arbitrary<string> {
  const token = fc.string({ unit: fc.constantFrom(...'aj/;= "+.*,\t\u00E9'), maxLength: 12 })
  const right = fc.constantFrom('application/json', 'Application/JSON; charset=utf-8', 'application/json ;x="y"')
  return fc.oneof(
    { arbitrary: right, weight: 6 },
    token,
    fc.tuple(right, token).map((parts) => parts.join('')),
    fc.constantFrom('text/plain', 'application/jsonp', 'multipart/form-data; boundary=x'),
  )
}

/** Addresses, and texts that are almost addresses, with white space and similar characters around them. */
function paddedTexts(): fc.Arbitrary<string> {
  const unit = fc.constantFrom(' ', '\t', '\n', '\u00A0', '\u3000', '\uFEFF', '\u200B', '\0')
  const blanks = fc.string({ unit, maxLength: 2 })
  return fc.oneof(
    texts(),
    fc.tuple(blanks, addresses(), blanks).map((parts) => parts.join('')),
  )
}
