import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { BODY_DEADLINE_MS, MAX_BODY_BYTES } from '../../src/limits.ts'
import { checked, expectOutcome, POST_HEADERS, POST_LINE, post, toChunk } from '../support/endpoint.ts'
import { readList } from '../support/list-file.ts'
import { exchange, openConnection, type RawConnection, type RawReply, toRequest } from '../support/raw.ts'
import { type RunningService, startService } from '../support/service.ts'

const CHUNKED = [...POST_HEADERS, 'Transfer-Encoding: chunked']

let service: RunningService

beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

describe('the cap', () => {
  const sized = (email: string, bytes: number) => {
    const text = JSON.stringify({ email, x: '' })
    return text.replace('""', `"${'x'.repeat(bytes - text.length)}"`)
  }

  test('is exact', async () => {
    const full = { email: 'full@example.org' }
    expectOutcome(await post(service, sized(full.email, MAX_BODY_BYTES)), full)
    expectOutcome(await post(service, sized('over@example.org', MAX_BODY_BYTES + 1)), 'large_body')
    expectOutcome(await post(service, ' '.repeat(10 * MAX_BODY_BYTES)), 'large_body')
  })

  test('counts bytes, not characters', async () => {
    const characters = '\u20AC'.repeat(MAX_BODY_BYTES / 3)
    expectOutcome(
      await post(service, JSON.stringify({ email: 'bytes@example.org', characters })),
      'large_body',
    )
  })

  test.each([MAX_BODY_BYTES + 1, 10 ** 9, 2 ** 53 - 1])(
    'a declared length of %d is refused before it is sent',
    async (length) => {
      const connection = await openConnection(service.port)
      connection.send(toRequest(POST_LINE, [...POST_HEADERS, `Content-Length: ${length}`]))
      expectOutcome(await lastAnswer(connection), 'large_body')
    },
  )

  test('a body in chunks is cut off there, and the connection with it', async () => {
    const connection = await openConnection(service.port)
    connection.send(toRequest(POST_LINE, CHUNKED))
    for (let size = 0; size <= MAX_BODY_BYTES; size += 1024) connection.send(toChunk(' '.repeat(1024)))
    expectOutcome(await lastAnswer(connection), 'large_body')
  })
})

describe('the deadline', () => {
  const DRIPS = [
    ['a body that drips', [...POST_HEADERS, 'Content-Length: 1000'], () => ' '],
    ['chunks that drip', CHUNKED, () => toChunk(' ')],
    ['a chunk that drips', CHUNKED, (drop: number) => (drop === 0 ? '400\r\n' : ' ')],
    ['a body that does not begin', [...POST_HEADERS, 'Content-Length: 10'], () => ''],
    ['chunks that do not begin', CHUNKED, () => ''],
  ] as const

  test.concurrent.each(DRIPS)('%s is answered 408, and the connection closed', async (_, fields, drop) => {
    const start = performance.now()
    const connection = await openConnection(service.port)
    connection.send(toRequest(POST_LINE, fields))
    let count = 0
    const drip = setInterval(() => connection.send(drop(count++)), 100)
    const reply = await lastAnswer(connection)
    clearInterval(drip)
    expectOutcome(reply, 'slow_body')
    // A timer never fires early; that it fires at all is what the answer proves.
    expect(performance.now() - start).toBeGreaterThan(BODY_DEADLINE_MS - 50)
  })

  test.concurrent('a body that is slow but in time is taken', async () => {
    const connection = await openConnection(service.port)
    const body = JSON.stringify({ email: 'slow@example.org' })
    connection.send(toRequest(POST_LINE, [...POST_HEADERS, `Content-Length: ${body.length}`]))
    for (const character of body) {
      connection.send(character)
      await Bun.sleep(20)
    }
    expectOutcome(checked(service, await connection.receive()), { email: 'slow@example.org' })
    connection.close()
  })
})

describe('framing', () => {
  const body = JSON.stringify({ email: 'more@example.org' })

  test('Expect: 100-continue gets its 100 first', async () => {
    const connection = await openConnection(service.port)
    connection.send(
      toRequest(POST_LINE, [...POST_HEADERS, 'Expect: 100-continue', `Content-Length: ${body.length}`]),
    )
    expect((await connection.receive())?.status).toBe(100)
    connection.send(body)
    expectOutcome(checked(service, await connection.receive()), { email: 'more@example.org' })
    connection.close()
  })

  test('neither a length nor chunks is no body', async () => {
    expectOutcome(
      checked(service, await exchange(service.port, toRequest(POST_LINE, POST_HEADERS))),
      'no_body',
    )
  })
})

test('what was answered 200 is on the list, and nothing else', async () => {
  const names = ['full', 'more', 'slow']
  expect([...(await readList(service.folder))].sort()).toEqual(names.map((name) => `${name}@example.org`))
})

/** Reads the answer that ends a connection: what is left of the body must not be taken for a request. */
async function lastAnswer(connection: RawConnection): Promise<RawReply> {
  const reply = checked(service, await connection.receive())
  expect(reply.headers.get('connection')).toBe('close')
  await connection.waitForClose()
  return reply
}
