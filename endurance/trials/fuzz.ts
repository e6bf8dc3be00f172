/** A million random requests: no response that the description does not declare, no 5xx, and the list is exact. */

import type { oas31 } from 'openapi3-ts'
import { BrokenPromise, check } from '../check.ts'
import { type Connection, connect, type Reply } from '../connection.ts'
import { createFuzz, type FuzzRequest } from '../fuzz/requests.ts'
import { createResponseCheck } from '../fuzz/responses.ts'
import { byIdentity, checkNoneLost, readRows } from '../rows.ts'
import type { Trial } from '../trial.ts'

const CALLERS = 32

/** Milliseconds until a request that may not be HTTP is given up. It may lack its end. */
const MALFORMED_MS = 100

/** Milliseconds in which every other request is answered: the deadlines of the contract, and what a busy machine adds. */
const ANSWER_MS = 20_000

interface Tally {
  requests: number
  /** By status; `none` for a connection that was closed, or a request that was given up. */
  readonly statuses: Map<string, number>
  readonly accepted: Set<string>
  /** Requests that may have put an address on the list. */
  unknown: number
}

export const fuzz: Trial = {
  name: 'fuzz',
  promise: '1 million fuzzed requests: no undeclared response, no 5xx',
  minutes: { sqlite: 2 },
  async run({ random, createList, amount, progress }) {
    const total = amount(1_000_000, 20_000)
    const list = await createList()
    const service = await list.serve()
    const response = await fetch(`http://127.0.0.1:${service.port}/openapi.json`)
    const inspect = createResponseCheck((await response.json()) as oas31.OpenAPIObject)
    const next = createFuzz(random)
    const tally: Tally = { requests: 0, statuses: new Map(), accepted: new Set(), unknown: 0 }

    async function call(): Promise<void> {
      let connection: Connection | undefined
      while (tally.requests < total) {
        tally.requests++
        if (tally.requests % 100_000 === 0) progress(`${tally.requests} of ${total}`)
        const request = next()
        if (!connection || connection.isClosed()) connection = await connect(service.port)
        const reply = await send(connection, request)
        take(tally, request, reply)
        const fault = reply ? inspect(request, reply) : toFaultOfSilence(request)
        if (fault) throw new BrokenPromise(`${fault}; the request was ${toText(request.bytes)}${toReplyText(reply)}`)
        if (!isKept(request, reply)) {
          connection.close()
          connection = undefined
        }
      }
      connection?.close()
    }

    await Promise.all(Array.from({ length: CALLERS }, call))
    const code = await service.stop()
    check(code === 0, () => `the service stopped with exit code ${code}`)
    const listed = byIdentity(await readRows(list))
    checkNoneLost(listed, tally.accepted)
    const more = listed.size - tally.accepted.size
    check(more <= tally.unknown, () => `${more} addresses are listed that no accepted request had`)
    return {
      figures: { 'fuzzed requests': tally.requests, 'addresses on the list': listed.size },
      details: Object.fromEntries([...tally.statuses].sort().map(([status, count]) => [`responses: ${status}`, count])),
    }
  },
}

/** Sends a request on a connection. Resolves with undefined when it is not answered. */
async function send(connection: Connection, { bytes, method, expects }: FuzzRequest): Promise<Reply | undefined> {
  const limit = expects === 'anything' ? MALFORMED_MS : ANSWER_MS
  const timer = setTimeout(connection.close, limit)
  try {
    return await connection.request(bytes, method)
  } finally {
    clearTimeout(timer)
  }
}

/** Whether the connection takes another request: either side may say that it does not (RFC 9112 section 9.6). */
function isKept({ bytes, expects }: FuzzRequest, reply: Reply | undefined): boolean {
  const closes = /\r\nconnection:[^\r]*close/i
  return expects !== 'anything' && reply !== undefined && !closes.test(bytes) && !closes.test(reply.head)
}

function take(tally: Tally, { expects, identity, method }: FuzzRequest, reply: Reply | undefined): void {
  const status = String(reply?.status ?? 'none')
  tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1)
  const isPost = method === 'POST' && reply?.status === 200 && expects === 'declared'
  if (isPost && identity !== undefined) tally.accepted.add(identity)
  else if (expects !== 'declared' || isPost) tally.unknown++
}

/** Bytes as a string of JavaScript, without the end of a long one. */
function toText(bytes: string): string {
  const isPlain = (character: string) => character >= ' ' && character <= '~'
  const toEscape = (character: string) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`
  return `'${[...bytes.slice(0, 2_000)].map((one) => (isPlain(one) ? one : toEscape(one))).join('')}'`
}

function toReplyText(reply: Reply | undefined): string {
  return reply ? `, the response ${toText(`${reply.head}\r\n\r\n${reply.body.toString('latin1')}`)}` : ''
}

function toFaultOfSilence({ expects }: FuzzRequest): string | undefined {
  return expects === 'anything' ? undefined : 'a well-formed request is not answered'
}
