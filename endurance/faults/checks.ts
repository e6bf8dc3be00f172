/** What must hold while a fault lasts, and after it. */

import { check, waitFor } from '../check.ts'
import type { Exchange } from '../load.ts'
import type { Fault, Scene } from './fault.ts'

/** The deadline of the contract, and what a busy machine may add. */
export const DEADLINE_MS = 5_000
const TOLERANCE_MS = 1_500

/** More error lines than this about one fault fill a disk. */
const MOST_LINES = 3

const ERROR_LEVEL = 50

/** The list is no longer where it was: 500s only, and /readyz says 503. */
export async function checkLost({ service }: Scene, exchanges: readonly Exchange[], from: number): Promise<void> {
  const limit = DEADLINE_MS + TOLERANCE_MS
  const isTold = () => exchanges.some(({ status, startedAt }) => status === 500 && startedAt > from)
  await waitFor('a 500, because the list is no longer there', isTold, limit)
  await waitFor('/readyz says 503', async () => (await service.opsStatus('/readyz')) === 503, limit)
}

/** A slow or failing store never keeps a document from its reader. */
export async function checkDocument(port: number): Promise<void> {
  const signal = AbortSignal.timeout(DEADLINE_MS)
  const response = await fetch(`http://127.0.0.1:${port}/openapi.json`, { signal }).catch(() => undefined)
  check(response?.status === 200, () => `a document is answered ${response?.status ?? 'not at all'} meanwhile`)
}

/**
 * Every request is answered, in time, and as the fault allows.
 *
 * @param from when the fault was there, and `until` when it ended, by performance.now()
 */
export function checkResponses(
  { responses }: Fault,
  exchanges: readonly Exchange[],
  { from, until }: { readonly from: number; readonly until: number },
): void {
  for (const { status, startedAt, endedAt } of exchanges) {
    const time = endedAt - startedAt
    check(status === 200 || status === 500, () => `a request is answered ${status ?? 'not at all'}`)
    check(time <= DEADLINE_MS + TOLERANCE_MS, () => `a response (${status}) takes ${time.toFixed(0)} ms`)
  }
  const failed = countFailed(exchanges, from)
  if (responses === '500') check(failed > 0, () => 'no request is answered 500 while the fault lasts')
  if (responses === '200') check(failed === 0, () => `${failed} requests are answered 500`)
  if (responses !== 'lost') return
  const wrong = exchanges.filter(
    ({ status, ...times }) => status === 200 && times.startedAt > from && times.endedAt < until,
  )
  check(wrong.length === 0, () => `${wrong.length} requests that were sent after the list was lost are answered 200`)
}

/** How many requests that the fault may have met were answered 500. */
export function countFailed(exchanges: readonly Exchange[], from: number): number {
  return exchanges.filter(({ status, startedAt }) => status === 500 && startedAt > from - DEADLINE_MS).length
}

/** The log names the cause of a fault that requests notice, in a few lines. */
export function checkLog({ responses, reason, lasts, isIntermittent }: Fault, log: string): void {
  const errors = log.split('\n').filter((line) => Number(/^\{"level":(\d+)/.exec(line)?.[1] ?? 0) >= ERROR_LEVEL)
  if (responses === '500' || responses === 'lost') {
    check(errors.length >= 1, () => 'no error line in the log says what is wrong')
    const most = MOST_LINES + (isIntermittent ? lasts / 1000 : 0)
    check(errors.length <= most, () => `${errors.length} error lines in the log are about one fault`)
  }
  if (!reason || responses === 'either') return
  check(
    errors.some((line) => reason.test(line)),
    () => `no error line in the log matches ${reason}: ${errors[0]}`,
  )
}
