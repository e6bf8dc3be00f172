/** Responses through a proxy: sends requests, and compares what comes back. */

import { RESPONSES } from '../support/contract.ts'
import { exchange, type RawConnection, type RawReply } from '../support/raw.ts'

export async function send(port: number, bytes: string): Promise<RawReply> {
  const reply = await exchange(port, bytes)
  if (!reply) throw new Error('there was no response')
  return reply
}

export async function receive(connection: RawConnection): Promise<RawReply> {
  const reply = await connection.receive()
  if (!reply) throw new Error('the connection was closed without a response')
  return reply
}

/** Compares a response with the contract, byte for byte. */
export function expectContract({ status, headers, body }: RawReply, name: keyof typeof RESPONSES): void {
  const expected = RESPONSES[name]
  expectEqual(
    [status, headers.get('content-type'), body.toString()],
    [expected.status, 'application/json', expected.body],
  )
}

export function expectEqual(seen: readonly unknown[], expected: readonly unknown[]): void {
  if (JSON.stringify(seen) === JSON.stringify(expected)) return
  throw new Error(`${JSON.stringify(seen).slice(0, 300)} instead of ${JSON.stringify(expected)}`)
}
