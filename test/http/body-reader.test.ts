/** The reader of bodies with a short deadline and a small limit. The real ones are in subscribe.test.ts, over a socket. */

import { expect, test } from 'bun:test'
import { createBodyReader } from '../../src/http/body.ts'

const LIMITS = { bytes: 100, deadlineMs: 10 }

/** A request with a body in chunks, which does not end. */
function createEndless(...chunks: readonly string[]): Request {
  const body = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(Buffer.from(chunk))
    },
  })
  return new Request('http://list.example', { method: 'POST', body })
}

test('a body that does not end is slow when the deadline passes', async () => {
  const start = performance.now()
  const body = await createBodyReader(LIMITS).read(createEndless('{'))
  expect(body).toEqual({ ok: false, reason: 'slow_body' })
  expect(performance.now() - start).toBeGreaterThanOrEqual(LIMITS.deadlineMs)
})

test('several bodies at once', async () => {
  const reader = createBodyReader(LIMITS)
  const bodies = await Promise.all(['a', 'b', 'c'].map((chunk) => reader.read(createEndless(chunk))))
  expect(bodies).toEqual(Array(3).fill({ ok: false, reason: 'slow_body' }))
})

test('a body in chunks is cut off at the limit, before its end', async () => {
  const reader = createBodyReader({ ...LIMITS, deadlineMs: 60_000 })
  const body = await reader.read(createEndless('x'.repeat(60), 'x'.repeat(41)))
  expect(body).toEqual({ ok: false, reason: 'large_body' })
})

test('abortPending gives up the bodies that are on their way', async () => {
  const reader = createBodyReader({ ...LIMITS, deadlineMs: 60_000 })
  const body = reader.read(createEndless('{'))
  reader.abortPending()
  expect(await body).toEqual({ ok: false, reason: 'slow_body' })
})
