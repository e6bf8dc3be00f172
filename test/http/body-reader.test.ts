/** The reader of bodies by itself. The deadline and the limit over a socket are in subscribe.test.ts. */

import { expect, test } from 'bun:test'
import { createBodyReader } from '../../src/http/body.ts'

/** A request with a body in chunks, which does not end. */
function createEndless(...chunks: readonly string[]): Request {
  const body = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(Buffer.from(chunk))
    },
  })
  return new Request('http://list.example', { method: 'POST', body })
}

test('a body in chunks is cut off at the limit, before its end', async () => {
  const reader = createBodyReader()
  const body = await reader.read(createEndless('x'.repeat(16_000), 'x'.repeat(385)))
  expect(body).toEqual({ ok: false, reason: 'large_body' })
})

test('abortPending gives up the bodies that have not arrived', async () => {
  const reader = createBodyReader()
  const body = reader.read(createEndless('{'))
  reader.abortPending()
  expect(await body).toEqual({ ok: false, reason: 'slow_body' })
})
