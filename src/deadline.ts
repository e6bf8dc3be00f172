/** Waits that end at a deadline. */

/**
 * Waits for work, but no longer than `milliseconds`. The work itself goes on.
 * @throws what the work rejects with; the error of `toError` at the deadline
 */
export async function withDeadline<T>(work: Promise<T>, milliseconds: number, toError: () => Error): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(toError()), milliseconds)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
