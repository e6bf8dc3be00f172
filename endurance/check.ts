/** How a trial says that a promise is broken. */

/** The service did not do what it promises. The message says what was seen. */
export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise'
}

/** Throws a BrokenPromise unless the condition holds. */
export function check(holds: boolean, message: () => string): asserts holds {
  if (!holds) throw new BrokenPromise(message())
}

/** Runs work, and puts words before the message of a BrokenPromise. */
export async function checkDuring<Value>(when: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof BrokenPromise ? new BrokenPromise(`${when}: ${error.message}`) : error
  }
}

/** The first few values of a list, for a message. */
export function toSample(values: readonly unknown[], most = 5): string {
  const shown = values.slice(0, most).map((value) => JSON.stringify(value))
  return values.length > most ? `${shown.join(', ')} and ${values.length - most} more` : shown.join(', ')
}

/**
 * Waits until a condition holds.
 *
 * @param awaited what is awaited, for the message
 * @throws BrokenPromise when it does not hold within the time
 */
export async function waitFor(
  awaited: string,
  condition: () => boolean | Promise<boolean>,
  milliseconds: number,
): Promise<void> {
  const end = performance.now() + milliseconds
  while (!(await condition())) {
    check(performance.now() < end, () => `${awaited}: not within ${milliseconds} ms`)
    await Bun.sleep(10)
  }
}
