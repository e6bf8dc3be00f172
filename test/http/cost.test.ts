/** The CPU time of the worst requests, compared with plain requests of the same size to the same service. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { MAX_LIST_FIELD_LENGTH } from '../../src/limits.ts'
import { measureCpuMs } from '../support/cpu.ts'
import { type RunningService, startService } from '../support/service.ts'

/** No request may cost more than this many times a plain request of its size. */
const MAX_RATIO = 10

/** The runtime accepts about 16 KiB of headers in all. */
const FIELD_LENGTH = 15_000

let service: RunningService

beforeAll(async () => {
  service = await startService({ site: 'languages: [en, de, fr, es, ar, zh-Hans]' })
})
afterAll(() => service.stop())

/** Fails when a request uses too much CPU time. */
async function expectCheap(worst: RequestInit, plain: RequestInit): Promise<void> {
  const measure = (init: RequestInit) =>
    measureCpuMs(service.process.pid, async () => (await fetch(service.origin, init)).arrayBuffer())
  const before = await measure(plain)
  const worstMs = await measure(worst)
  // The load of the machine may change in between, and with it the speed of the processor.
  const plainMs = Math.max(before, await measure(plain))
  const ratio = worstMs / plainMs
  expect(ratio, `${worstMs.toFixed(3)} ms of CPU time; a plain request takes ${plainMs.toFixed(3)} ms`).toBeLessThan(
    MAX_RATIO,
  )
}

/** Returns a POST of the form. URL encoding would make each mark six characters; a body may also have it as it is. */
const toRawForm = (email: string): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body: `email=${email}`,
})

describe('a form with the worst text costs at most ten times a plain one', () => {
  // Each is not in canonical order, so normalising it sorts its marks.
  const marks = 'x@a'.padEnd(8_163, '\u0301\u0316')
  const plain = 'x@a'.padEnd(16_323, 'b')

  test.each([
    ['combining marks', marks],
    ['combining marks after a valid domain', `x@example.org${marks.slice(20)}`],
    ['an opening bracket for each character', 'x@é'.padEnd(16_000, '<')],
    ['an @ for each character', 'é'.padEnd(16_000, '@')],
  ])('%s', async (_name, worst) => {
    await expectCheap(toRawForm(worst), toRawForm(plain))
  })
})

describe('a request with the worst header costs at most ten times one with a header of the same size', () => {
  const fill = (part: string, length = FIELD_LENGTH) => part.repeat(Math.ceil(length / part.length)).slice(0, length)
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
  ] as const

  test.each(FIELDS)('%s: %s', async (name, _what, value) => {
    await expectCheap({ headers: { [name]: value } }, { headers: { 'X-Plain': fill('a', value.length) } })
  })
})
