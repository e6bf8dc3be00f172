/** The endpoint over raw sockets: posts in every framing, and what comes of it. */

import { expect } from 'bun:test'
import { type ErrorReason, PROBLEMS, toErrorBody } from '../../src/errors.ts'
import { ENDPOINT } from '../../src/routes.ts'
import { exchange, type RawReply, toRequest } from './raw.ts'
import type { RunningService } from './service.ts'

/** The request line of the endpoint, without its version. */
export const POST_LINE = `POST ${ENDPOINT.path}`

/** The fields of a plain request, those that frame its body aside. */
export const POST_FIELDS = ['Host: 127.0.0.1', `Content-Type: ${ENDPOINT.mediaType}`] as const

/** What a request leads to: a fault, or that an address is on the list. */
export type Outcome = ErrorReason | { readonly email: string }

/** Posts a body under a declared length, and once more in chunks; fails unless both are answered alike. */
export async function post(
  service: RunningService,
  body: string | Uint8Array,
  fields: readonly string[] = POST_FIELDS,
): Promise<RawReply> {
  const bytes = Buffer.from(body)
  const declared = toRequest(POST_LINE, fields, bytes.toString('latin1'))
  const whole = await exchange(service.port, declared)
  const third = bytes.length / 3
  const chunks = [bytes.subarray(0, third), bytes.subarray(third)].filter(({ length }) => length > 0)
  const head = toRequest(POST_LINE, [...fields, 'Transfer-Encoding: chunked'])
  const chunked = await exchange(service.port, [head, ...chunks.map(toChunk), LAST_CHUNK].join(''))
  expect([chunked?.status, chunked?.body.toString()]).toEqual([whole?.status, whole?.body.toString()])
  return checked(service, whole)
}

/** Holds an answer of the endpoint against the description; fails where there is none. */
export function checked(service: RunningService, reply: RawReply | undefined): RawReply {
  if (!reply) throw new Error('there was no answer')
  service.check({ method: 'POST', path: ENDPOINT.path, ...reply })
  return reply
}

/** Holds an answer against what was to come of the request. */
export function expectOutcome(reply: RawReply, outcome: Outcome): void {
  const [status, body] =
    typeof outcome === 'string'
      ? [PROBLEMS[outcome].status, toErrorBody(PROBLEMS[outcome])]
      : [200, { ok: true }]
  expect([reply.status, reply.body.toString()]).toEqual([status, JSON.stringify(body)])
}

/** Frames data as a chunk, in Latin-1 (RFC 9112 section 7.1). */
export function toChunk(data: string | Uint8Array): string {
  const bytes = Buffer.from(data)
  return `${bytes.length.toString(16)}\r\n${bytes.toString('latin1')}\r\n`
}

const LAST_CHUNK = '0\r\n\r\n'
