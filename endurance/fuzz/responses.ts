/** Says what is wrong with a response to a random request. */

import { brotliDecompressSync } from 'node:zlib'
import type { oas31 } from 'openapi3-ts'
import { createAnswerCheck } from '../../test/support/response-check.ts'
import type { Reply } from '../connection.ts'
import type { FuzzRequest } from './requests.ts'

/** Statuses of a page and its form. */
const OF_A_PAGE = [200, 303, 304, 308, 400, 405, 408, 413, 415]

/** Statuses with which the runtime refuses what is not HTTP, and those of the application. */
const OF_ANYTHING = [...OF_A_PAGE, 404, 431, 505]

/** Creates the check. A response that was seen before is not checked again. */
export function createResponseCheck(description: oas31.OpenAPIObject) {
  const check = createAnswerCheck(description)
  const paths = new Set(Object.keys(description.paths ?? {}))
  const seen = new Set<string>()

  /** Returns what is wrong, or undefined. */
  return ({ method, target, expects }: FuzzRequest, reply: Reply): string | undefined => {
    const { status } = reply
    if (expects !== 'declared') {
      const allowed = expects === 'page' ? OF_A_PAGE : OF_ANYTHING
      return allowed.includes(status) ? undefined : `the status ${status} is not one of ${allowed.join(', ')}`
    }
    const path = target.replace(/[?#].*$/s, '')
    const head = reply.head.replace(/\r\nDate: [^\r]*/i, '')
    const key = [method, paths.has(path) ? path : '', head, Bun.hash(reply.body)].join('\n')
    if (seen.has(key)) return undefined
    try {
      const headers = toHeaders(head)
      check({ method, path, status, headers, body: decode(reply.body, headers.get('content-encoding')) })
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
    seen.add(key)
    return undefined
  }
}

function toHeaders(head: string): Headers {
  const [, ...fields] = head.split('\r\n')
  return new Headers(
    fields.map((field): [string, string] => {
      const colon = field.indexOf(':')
      return [field.slice(0, colon), field.slice(colon + 1).trim()]
    }),
  )
}

function decode(body: Buffer, coding: string | null): Uint8Array {
  if (body.length === 0 || coding === null) return body
  const bytes = Uint8Array.from(body)
  if (coding === 'gzip') return Bun.gunzipSync(bytes)
  if (coding === 'br') return brotliDecompressSync(bytes)
  if (coding === 'zstd') return Bun.zstdDecompressSync(bytes)
  throw new Error(`the content coding ${coding} is not one that was asked for`)
}
