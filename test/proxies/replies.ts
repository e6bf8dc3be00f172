/** Responses through a proxy: sends requests, and compares what comes back. */

import { RESPONSES } from '../support/contract.ts'
import type { RawConnection, RawReply } from '../support/raw.ts'
import type { RunningProxy } from './proxy.ts'

/** Sends a request on a new connection, from the address of a client or from a new one. */
export async function send(proxy: RunningProxy, bytes: string, client?: string): Promise<RawReply> {
  const connection = await proxy.connect(client)
  connection.send(bytes)
  const reply = await receive(connection, bytes.split(' ', 1)[0])
  connection.close()
  return reply
}

export async function receive(connection: RawConnection, method?: string): Promise<RawReply> {
  const reply = await connection.receive(method)
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
