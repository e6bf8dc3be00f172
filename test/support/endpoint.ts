/** Posts to the endpoint over plain sockets, in every framing, and checks the responses. */

import { expect } from 'bun:test'
import { ENDPOINT, RESPONSES } from './contract.ts'
import { exchange, type RawReply, toRequest } from './raw.ts'
import type { RunningService } from './service.ts'

/** The request line of the endpoint, without its version. */
export const POST_LINE = `POST ${ENDPOINT.path}`

/** The headers of a plain request, without those that frame its body. */
export const POST_HEADERS = ['Host: 127.0.0.1', `Content-Type: ${ENDPOINT.mediaType}`] as const

/** The reason why a request is refused, or the address that it puts on the list. */
export type Outcome = Exclude<keyof typeof RESPONSES, 'accepted'> | { readonly email: string }

/** Posts a body with a Content-Length, and again in chunks. Fails unless both get the same response. */
export async function post(
  service: RunningService,
  body: string | Uint8Array,
  headers: readonly string[] = POST_HEADERS,
): Promise<RawReply> {
  const bytes = Buffer.from(body)
  const declared = toRequest(POST_LINE, headers, bytes.toString('latin1'))
  const whole = await exchange(service.port, declared)
  const third = bytes.length / 3
  const chunks = [bytes.subarray(0, third), bytes.subarray(third)].filter(({ length }) => length > 0)
  const head = toRequest(POST_LINE, [...headers, 'Transfer-Encoding: chunked'])
  const chunked = await exchange(service.port, [head, ...chunks.map(toChunk), LAST_CHUNK].join(''))
  expect([chunked?.status, chunked?.body.toString()]).toEqual([whole?.status, whole?.body.toString()])
  return checked(service, whole)
}

/** Checks a response of the endpoint against the description. Fails when there is none. */
export function checked(service: RunningService, reply: RawReply | undefined): RawReply {
  if (!reply) throw new Error('there was no response')
  service.check({ method: 'POST', path: ENDPOINT.path, ...reply })
  return reply
}

/** Compares a response with the contract. */
export function expectOutcome(reply: RawReply, outcome: Outcome): void {
  expectResponse(reply, typeof outcome === 'string' ? outcome : 'accepted')
}

/** Compares a response with a row of the contract, byte for byte. */
export function expectResponse({ status, headers, body }: RawReply, name: keyof typeof RESPONSES): void {
  expect({
    status,
    body: body.toString(),
    allow: headers.get('allow'),
    mediaType: headers.get('content-type'),
    cacheControl: headers.get('cache-control'),
  }).toEqual({ ...RESPONSES[name], mediaType: 'application/json', cacheControl: 'no-store' })
}

/** Frames data as a chunk, in Latin-1 (RFC 9112 section 7.1). */
export function toChunk(data: string | Uint8Array): string {
  const bytes = Buffer.from(data)
  return `${bytes.length.toString(16)}\r\n${bytes.toString('latin1')}\r\n`
}

const LAST_CHUNK = '0\r\n\r\n'
