/** The limits of a request body, and how a body is framed. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { BODY_DEADLINE_MS, MAX_BODY_BYTES } from '../support/contract.ts'
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

describe('the size limit', () => {
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
    expectOutcome(await post(service, JSON.stringify({ email: 'bytes@example.org', characters })), 'large_body')
  })

  test.each([MAX_BODY_BYTES + 1, 10 ** 9, 2 ** 53 - 1])(
    'refuses a Content-Length of %d when the body does not arrive',
    async (length) => {
      const connection = await openConnection(service.port)
      connection.send(toRequest(POST_LINE, [...POST_HEADERS, `Content-Length: ${length}`]))
      expectOutcome(await receiveLast(connection), 'large_body')
    },
  )

  test('applies to a body in chunks, and the connection is closed if they do not end', async () => {
    const connection = await openConnection(service.port)
    connection.send(toRequest(POST_LINE, CHUNKED))
    for (let size = 0; size <= MAX_BODY_BYTES; size += 1024) connection.send(toChunk(' '.repeat(1024)))
    expectOutcome(await receiveLast(connection), 'large_body')
  })
})

describe('the deadline', () => {
  const SLOW_BODIES = [
    ['a slow body', [...POST_HEADERS, 'Content-Length: 1000'], () => ' '],
    ['slow chunks', CHUNKED, () => toChunk(' ')],
    ['a slow chunk', CHUNKED, (count: number) => (count === 0 ? '400\r\n' : ' ')],
    ['a body that does not start', [...POST_HEADERS, 'Content-Length: 10'], () => ''],
    ['chunks that do not start', CHUNKED, () => ''],
  ] as const

  test.concurrent.each(SLOW_BODIES)('ends %s with 408, and closes the connection', async (_, headers, next) => {
    const start = performance.now()
    const connection = await openConnection(service.port)
    connection.send(toRequest(POST_LINE, headers))
    let count = 0
    const timer = setInterval(() => connection.send(next(count++)), 100)
    const reply = await receiveLast(connection)
    clearInterval(timer)
    expectOutcome(reply, 'slow_body')
    // Not before the deadline. That the response came at all shows that it is not much later.
    expect(performance.now() - start).toBeGreaterThan(BODY_DEADLINE_MS - 50)
  })

  test.concurrent('accepts a slow body that arrives in time', async () => {
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
    connection.send(toRequest(POST_LINE, [...POST_HEADERS, 'Expect: 100-continue', `Content-Length: ${body.length}`]))
    expect((await connection.receive())?.status).toBe(100)
    connection.send(body)
    expectOutcome(checked(service, await connection.receive()), { email: 'more@example.org' })
    connection.close()
  })

  test('a request without Content-Length and chunks has no body', async () => {
    expectOutcome(checked(service, await exchange(service.port, toRequest(POST_LINE, POST_HEADERS))), 'no_body')
  })
})

test('the list has the addresses that got a 200, and no others', async () => {
  const names = ['full', 'more', 'slow']
  expect([...(await readList(service.folder))].sort()).toEqual(names.map((name) => `${name}@example.org`))
})

/** Receives the last response of a connection. The rest of the body must not be read as a request. */
async function receiveLast(connection: RawConnection): Promise<RawReply> {
  const reply = checked(service, await connection.receive())
  expect(reply.headers.get('connection')).toBe('close')
  await connection.waitForClose()
  return reply
}
