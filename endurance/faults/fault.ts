/** What a fault is, and what the service must do while it lasts and after it. */

import { STORE_DEADLINE_MS } from '../../src/limits.ts'
import { check } from '../check.ts'
import type { Exchange } from '../load.ts'
import type { List, Service } from '../rollcall.ts'

/** A service under load on a list of its own. */
export interface Scene {
  readonly service: Service
  readonly list: List
  /** A new file of the trial. */
  readonly scratch: string
}

export interface Fault {
  readonly name: string
  /** Milliseconds that it lasts. */
  readonly lasts: number
  /** What requests get while it lasts: `500` at least one 500, `200` no 500, `either`. */
  readonly responses: '500' | '200' | 'either'
  /** What a line of the log says about the cause. */
  readonly reason?: RegExp
  /** Causes it. Returns what ends it. */
  cause(scene: Scene): Promise<() => unknown>
}

/** More error lines than this about one fault fill a disk. */
const MOST_LINES = 3
const ERROR_LEVEL = 50

/** A slow or failing store never keeps a document from its reader. */
export async function checkDocument(port: number): Promise<void> {
  const signal = AbortSignal.timeout(STORE_DEADLINE_MS)
  const response = await fetch(`http://127.0.0.1:${port}/openapi.json`, { signal }).catch(() => undefined)
  check(response?.status === 200, () => `a document is answered ${response?.status ?? 'not at all'} meanwhile`)
}

/**
 * Every request is answered within the deadline of the contract, from its last byte to the last byte of the response, and
 * as the fault allows.
 *
 * @param from when the fault was there, by performance.now()
 */
export function checkResponses({ responses }: Fault, exchanges: readonly Exchange[], from: number): void {
  for (const { status, startedAt, endedAt } of exchanges) {
    const time = endedAt - startedAt
    check(status === 200 || status === 500, () => `a request is answered ${status ?? 'not at all'}`)
    check(time <= STORE_DEADLINE_MS, () => `a response (${status}) takes ${time.toFixed(0)} ms`)
  }
  const failed = countFailed(exchanges, from)
  if (responses === '500') check(failed > 0, () => 'no request is answered 500 while the fault lasts')
  if (responses === '200') check(failed === 0, () => `${failed} requests are answered 500`)
}

/** How many requests that the fault may have met were answered 500. */
export function countFailed(exchanges: readonly Exchange[], from: number): number {
  return exchanges.filter(({ status, startedAt }) => status === 500 && startedAt > from - STORE_DEADLINE_MS).length
}

/** The log names the cause of a fault that requests notice, in a few lines. */
export function checkLog({ responses, reason }: Fault, log: string): void {
  if (responses !== '500') return
  const errors = log.split('\n').filter((line) => Number(/^\{"level":(\d+)/.exec(line)?.[1] ?? 0) >= ERROR_LEVEL)
  check(errors.length >= 1, () => 'no error line in the log says what is wrong')
  check(errors.length <= MOST_LINES, () => `${errors.length} error lines in the log are about one fault`)
  const isNamed = errors.some((line) => reason?.test(line) ?? true)
  check(isNamed, () => `no error line in the log matches ${reason}: ${errors[0]}`)
}
