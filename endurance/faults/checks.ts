/** What must hold while a fault lasts, and after it. */

import type { Exchange } from '../load.ts'
import { byIdentity, readList } from '../rollcall.ts'
import { check, toSample, waitFor } from '../trial.ts'
import type { Fault, Scene } from './fault.ts'

/** The deadline of the contract, and what a busy machine may add. */
export const DEADLINE_MS = 5_000
const TOLERANCE_MS = 2_000

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

/** Every request is answered, in time, and as the fault allows. */
export function checkResponses(
  { responses, lasts }: Fault,
  exchanges: readonly Exchange[],
  { failed, from }: { readonly failed: number; readonly from: number },
): void {
  for (const { status, startedAt, endedAt } of exchanges) {
    const time = endedAt - startedAt
    check(status === 200 || status === 500, () => `a request is answered ${status ?? 'not at all'}`)
    check(time <= DEADLINE_MS + TOLERANCE_MS, () => `a response (${status}) takes ${time.toFixed(0)} ms`)
  }
  if (responses === '500') check(failed > 0, () => 'no request is answered 500 while the fault lasts')
  if (responses === '200') check(failed === 0, () => `${failed} requests are answered 500`)
  if (responses !== 'lost') return
  const wrong = exchanges.filter(
    ({ status, startedAt, endedAt }) => status === 200 && startedAt > from && endedAt < from + lasts,
  )
  check(wrong.length === 0, () => `${wrong.length} requests that were sent after the list was lost are answered 200`)
}

/** A fault logs at least one line, and only a few. */
export function checkLines(lines: number): void {
  check(lines >= 1, () => 'no error line in the log says that the list is lost')
  check(lines <= MOST_LINES, () => `${lines} error lines in the log are about one fault`)
}

/** Everything acknowledged is on the list once, and nothing else. */
export async function checkKept(
  list: string,
  { folder, sent, acknowledged }: { folder: string; sent: ReadonlySet<string>; acknowledged: readonly Exchange[] },
): Promise<void> {
  const listed = byIdentity(await readList(list, { folder }))
  const lost = acknowledged.filter(({ email }) => !listed.has(email)).map(({ email }) => email)
  check(lost.length === 0, () => `${lost.length} acknowledged addresses are lost: ${toSample(lost)}`)
  const strange = [...listed.keys()].filter((email) => !sent.has(email))
  check(strange.length === 0, () => `addresses that nobody sent are listed: ${toSample(strange)}`)
}

/** Counts the lines of a log that tell of an error. */
export function countErrors(log: string): number {
  const levels = log.matchAll(/^\{"level":(\d+)/gm)
  return [...levels].filter(([, level]) => Number(level) >= ERROR_LEVEL).length
}
