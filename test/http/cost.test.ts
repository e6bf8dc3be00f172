/** The CPU time of the worst requests, compared with plain requests of the same size to the same service. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { EXAMPLE_BODY } from '../../src/errors.ts'
import { MAX_LIST_FIELD_LENGTH } from '../../src/limits.ts'
import { DOCUMENTS, ENDPOINT, MAX_BODY_BYTES } from '../support/contract.ts'
import { HOST, hostileRequests, toPlainPost, toPost } from '../support/hostile-requests.ts'
import { toRequest } from '../support/raw.ts'
import { type CostMeter, openCostMeter, type Pair } from '../support/request-cost.ts'
import { type RunningService, startService } from '../support/service.ts'

/** No request may cost more than this many times a plain request of its size. */
const MAX_RATIO = 10

/** The contract takes any members, and nothing in JSON takes longer to parse than arrays. */
const MAX_RATIO_OF_ARRAYS = 2 * MAX_RATIO

/** The runtime accepts about 16 KiB of headers in all. */
const FIELD_LENGTH = 15_000

let service: RunningService
let meter: CostMeter

beforeAll(async () => {
  const site = 'languages: [en, de, fr, es, ar, zh-Hans]'
  service = await startService({ site, env: { BASE_URL: 'https://www.example.org' } })
  meter = await openCostMeter(service, toPlainPost(ENDPOINT.path))
})
afterAll(async () => {
  meter.close()
  await service.stop()
})

async function expectCheap(pair: Pair, maxRatio = MAX_RATIO): Promise<void> {
  let ratio = await meter.measure(pair, maxRatio / 3)
  // What disturbs a measurement makes the ratio larger, so a smaller one is nearer to the truth.
  for (let repeat = 0; repeat < 2 && ratio >= maxRatio; repeat++) ratio = Math.min(ratio, await meter.measure(pair))
  expect(ratio, `it takes ${ratio.toFixed(1)} times the CPU time of a plain request`).toBeLessThan(maxRatio)
}

const fill = (part: string, length = FIELD_LENGTH) => part.repeat(Math.ceil(length / part.length)).slice(0, length)

describe('a body with the worst text', () => {
  const fillBody = (part: string, start = '') =>
    start + part.repeat((MAX_BODY_BYTES - start.length) / Buffer.byteLength(part))
  // Each is not in canonical order, so normalising it sorts its marks.
  const marks = '\u0301\u0316'
  const letters = Array.from({ length: 240 }, (_, index) => String.fromCharCode(0x4e00 + 37 * index)).join('')

  const FORMS = [
    ['combining marks', fillBody(marks, 'email=x@a')],
    ['combining marks after a valid domain', fillBody(marks, 'email=x@example.orga')],
    ['combining marks in a domain of the longest length', `email=x@a${marks.repeat(120)}`],
    ['a label of different letters', `email=x@${letters}`],
    ['an opening bracket for each character', fillBody('<', 'email=x@\u00e9')],
    ['an @ for each character', fillBody('@', 'email=\u00e9')],
    ['white space', fillBody(' ', 'email=x@')],
    ['separators', fillBody(',', 'email=x@')],
    ['many fields', fillBody('a&')],
    ['an empty address', 'email='],
  ] as const
  test.each(FORMS)('a form: %s', (_name, body) => expectCheap(toBodies('/', body)))

  const JSONS = [
    ['separators', fillBody(',', '{"email":"').replace(/..$/, '"}')],
    ['many members', fillMembers()],
  ] as const
  test.each(JSONS)('JSON: %s', (_name, body) => expectCheap(toBodies(ENDPOINT.path, body)))

  test.each([fillBody('['), `{"a":${'['.repeat(8_000)}${']'.repeat(8_000)}}`])('JSON: arrays in arrays, %.6s', (body) =>
    expectCheap(toBodies(ENDPOINT.path, body), MAX_RATIO_OF_ARRAYS),
  )

  test('chunks of one byte', async () => {
    const framing = [HOST, `Content-Type: ${ENDPOINT.mediaType}`, 'Transfer-Encoding: chunked']
    const chunks = [...EXAMPLE_BODY.padEnd(2_500)].map((character) => `1\r\n${character}\r\n`).join('')
    const worst = `${toRequest(`POST ${ENDPOINT.path}`, framing)}${chunks}0\r\n\r\n`
    await expectCheap({ worst, plain: toPlainPost(ENDPOINT.path, chunks.length) })
  })

  const toBodies = (path: string, body: string) => ({
    worst: toPost(path, body),
    plain: toPlainPost(path, Buffer.byteLength(body)),
  })
})

describe('a request with the worst header costs at most ten times one with a header of the same size', () => {
  /** Returns subtags that differ: ICU sorts them and compares them with each other. */
  const toSubtags = (count: number) => Array.from({ length: count }, (_, index) => `a${String(1e6 + index)}`).join('-')
  const toTags = (start: string, end: string) => Array.from('abcdefgh', (letter) => `${start}${letter}${end}`).join(',')
  const FIELDS = [
    ['Accept-Language', 'a tag with 1,600 variants', `en-${toSubtags(1_600)}`],
    ['Accept-Language', 'a tag with 1,600 attributes', `en-u-${toSubtags(1_600)}`],
    ['Accept-Language', 'unknown languages', toTags('q', 'a-x-abcdefgh-abcdefgh-abcdefgh')],
    ['Accept-Language', 'a language of the site in another script', toTags('zh-HK-x-', '-abcdefgh-abcdefgh')],
    ['Accept-Language', 'a language of the site with extensions', toTags('zh-TW-u-ca-buddhist-x-', '-abcdefgh')],
    [
      'Accept-Language',
      'as many tags as fit',
      Array.from({ length: MAX_LIST_FIELD_LENGTH / 4 }, (_, index) => (1e3 + index).toString(36).padStart(3, 'q')).join(
        ',',
      ),
    ],
    ['Accept', 'many types', `text/markdown${fill(',a')}`],
    ['Accept', 'the most types that are read', `text/markdown${fill(',a', MAX_LIST_FIELD_LENGTH - 13)}`],
    ['Accept', 'the most parameters that are read', `text/markdown${fill(';q', MAX_LIST_FIELD_LENGTH - 13)}`],
    ['Accept', 'white space', `text/markdown;${fill(' ')}q`],
    ['If-None-Match', 'many tags', fill('"",')],
    ['If-None-Match', 'the most tags that are read', fill('"",', MAX_LIST_FIELD_LENGTH)],
    ['If-None-Match', 'many weak marks', fill('W/"')],
    ['Accept-Encoding', 'many codings', fill('a,')],
    ['Accept-Encoding', 'the most codings that are read', fill('a,', MAX_LIST_FIELD_LENGTH)],
    ['Accept-Encoding', 'many weights', fill(';q=1')],
    ['Host', 'combining marks, percent-encoded', fill('%cc%81%cc%96')],
    ['Host', 'the other name of the host, with a long port', `example.org:${fill('0')}`],
  ] as const

  test.each(FIELDS)('%s: %s', async (name, _what, value) => {
    const fields = name === 'Host' ? [] : [HOST]
    const worst = toRequest('GET /', [...fields, `${name}: ${value}`])
    await expectCheap({ worst, plain: toRequest('GET /', [HOST, `X-Plain: ${fill('a', value.length)}`]) })
  })
})

describe('a request with the worst target costs at most ten times a subscription of the same size', () => {
  const TARGETS = ['/', '/?', '/DE?', `${DOCUMENTS.openApiJson.path}?`, '/nowhere'].flatMap((start) =>
    ['\xe9', "'", '%41"<', '/..'].map((part) => start + fill(part)),
  )
  const HOSTS = [HOST, 'Host: example.org', 'Host: a b']
  test.each(TARGETS.flatMap((target) => HOSTS.map((host) => [host, target] as const)))(
    '%s, %.20s',
    async (host, target) => {
      await expectCheap({
        worst: toRequest(`GET ${target}`, [host]),
        plain: toPlainPost(ENDPOINT.path, target.length),
      })
    },
  )
})

test('no random request costs more than ten times a plain one of its size', async () => {
  await fc.assert(
    fc.asyncProperty(hostileRequests(), async (request) => {
      // Most are far from the limit, so a rough figure is enough.
      if ((await meter.estimate(request)) > MAX_RATIO / 2) await expectCheap(request)
    }),
    { numRuns: 150, endOnFailure: true },
  )
})

function fillMembers(): string {
  const members = Array.from({ length: 1_500 }, (_, index) => `"${index.toString(36)}":1`)
  return `{${members.join(',')},"email":"a@example.org"}`
}
