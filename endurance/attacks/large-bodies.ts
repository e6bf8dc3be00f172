/** Callers that send bodies which are too large, one after the other: each gets its 413, and others are served. */

import { check } from '../check.ts'
import { type Connection, connect, type Reply } from '../connection.ts'
import { startLoad } from '../load.ts'
import { ENDPOINT } from '../rollcall.ts'
import { checkKept } from '../rows.ts'
import type { Attack } from './attack.ts'

const CALLERS = 16
const REQUESTS = 480

/** Bytes: a little over the limit of the contract, and several times as much. */
const SIZES = [16 * 1024 + 1, 64 * 1024]

export const largeBodies: Attack = {
  name: 'bodies that are too large',
  async run({ createList, amount }) {
    const list = await createList()
    const service = await list.serve()
    const sent = new Set<string>()
    const acknowledged = new Set<string>()
    const others = startLoad(() => service.port, {
      callers: 2,
      nextEmail() {
        const email = `other${sent.size}@example.org`
        sent.add(email)
        return email
      },
      onReply({ email, status }) {
        if (status === 200) acknowledged.add(email)
      },
    })
    const requests = amount(REQUESTS, 60)
    for (const framing of FRAMINGS) {
      for (const size of SIZES) await flood(service.port, framing(size), requests)
    }
    await others.stop()
    await service.stop()
    check(acknowledged.size === sent.size, () => `${sent.size - acknowledged.size} requests of others fail meanwhile`)
    await checkKept(list, { sent, acknowledged })
    return { 'bodies that are too large, each answered 413': requests * FRAMINGS.length * SIZES.length }
  },
}

const HEAD = `POST ${ENDPOINT} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n`
const FRAMINGS: readonly ((size: number) => string)[] = [
  (size) => `${HEAD}Content-Length: ${size}\r\n\r\n${'a'.repeat(size)}`,
  (size) => `${HEAD}Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n${'a'.repeat(size)}\r\n0\r\n\r\n`,
]

async function flood(port: number, request: string, requests: number): Promise<void> {
  let left = requests

  async function call(): Promise<void> {
    let connection: Connection | undefined
    while (left-- > 0) {
      if (!connection || connection.isClosed()) connection = await connect(port)
      const reply = await connection.request(request)
      checkReply(reply)
      // The response may say that the connection ends, but only after all of it has arrived.
      if (/\r\nconnection: *close/i.test(reply?.head ?? '')) connection.close()
    }
    connection?.close()
  }

  await Promise.all(Array.from({ length: CALLERS }, call))
}

function checkReply(reply: Reply | undefined): void {
  check(reply?.status === 413, () => `a body that is too large is answered ${reply?.status ?? 'not at all'}`)
  const { message } = JSON.parse(reply?.body.toString() || '{}') as { message?: string }
  check(message === 'invalid_body', () => `the 413 says ${message}`)
}
