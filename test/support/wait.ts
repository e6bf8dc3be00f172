/** Limits on waiting, so that a test that waits in vain says what it waited for. */

/** How long a test waits, in milliseconds: long enough for a busy machine, and shorter than the limit of a test. */
const WAIT_LIMIT_MS = 50_000

/** Resolves as the promise does. Rejects after the limit, and names what was awaited. */
export async function within<T>(
  promise: Promise<T>,
  what: string | (() => string),
  limitMs = WAIT_LIMIT_MS,
): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(toError(what, limitMs)), limitMs)
  return await Promise.race([promise, late.promise]).finally(() => clearTimeout(timer))
}

/**
 * Resolves when a condition holds. Checks it every few milliseconds. Rejects after the limit.
 *
 * @param what names the condition in the error; its source code by default
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string | (() => string) = String(condition),
  limitMs = WAIT_LIMIT_MS,
): Promise<void> {
  const end = performance.now() + limitMs
  while (!(await condition())) {
    if (performance.now() > end) throw toError(what, limitMs)
    await Bun.sleep(2)
  }
}

const DAY_MS = 86_400_000

/** Returns the start of this day (UTC). Near its end, waits for the next one, so that a test ends on the day on which it begins. */
export async function findMidnight(): Promise<number> {
  await until(() => DAY_MS - (Date.now() % DAY_MS) > 10_000, 'the next day begins')
  const now = Date.now()
  return now - (now % DAY_MS)
}

function toError(what: string | (() => string), limitMs: number): Error {
  return new Error(`waited ${limitMs / 1000} s for: ${typeof what === 'string' ? what : what()}`)
}
