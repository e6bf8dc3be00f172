/** What a trial is, and how it says that a promise is broken. */

import type { Random } from './random.ts'

export const STORES = ['sqlite', 'postgres'] as const
export type StoreKind = (typeof STORES)[number]

/** What a trial measured, by name. Values appear in the report as they are. */
export type Figures = Readonly<Record<string, string | number>>

export interface Trial {
  readonly name: string
  /** What the trial must show, in one line. */
  readonly promise: string
  /** The stores that it applies to. */
  readonly stores: readonly StoreKind[]
  /** Minutes that it takes at its default length, about. */
  readonly minutes: number
  /** Says in one line what this machine lacks; undefined when the trial can run. */
  readonly findMissing?: () => string | undefined
  /** Runs the trial. @throws BrokenPromise when the service does not do what it promises */
  run(context: TrialContext): Promise<Figures>
}

export interface TrialContext {
  readonly store: StoreKind
  readonly random: Random
  /** A temporary folder for this trial alone. */
  readonly folder: string
  /** The length of this run as a share of the default length. */
  readonly scale: number
  /** Scales a number of the default length; at least `least`. */
  amount(atDefaultLength: number, least?: number): number
  /** Creates an empty list, and returns its URL. */
  createList(): Promise<string>
  /** Tells the person who waits how far the trial is. */
  progress(line: string): void
}

/** The service did not do what it promises. The message says what was seen. */
export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise'
}

/** Throws a BrokenPromise unless the condition holds. */
export function check(holds: boolean, message: () => string): asserts holds {
  if (!holds) throw new BrokenPromise(message())
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
