/** What a trial is, and what it may use. */

import type { Random } from './random.ts'
import type { List } from './rollcall.ts'

export const STORES = ['sqlite', 'postgres'] as const
export type StoreKind = (typeof STORES)[number]

/** What a trial measured, by name: the few figures that show that the promise was tried. */
export type Figures = Readonly<Record<string, string | number>>

export interface Trial {
  readonly name: string
  /** What the trial must show, in one line. */
  readonly promise: string
  /** About how many minutes it takes in full, for each store that it applies to, on two cores without other work. */
  readonly minutes: Readonly<Partial<Record<StoreKind, number>>>
  /** Programs that it uses, which are Debian packages of the same name. */
  readonly needs?: readonly string[]
  /** Runs the trial. @throws BrokenPromise when the service does not do what it promises */
  run(context: TrialContext): Promise<Figures>
}

export interface TrialContext {
  readonly store: StoreKind
  readonly random: Random
  /** A temporary folder for this trial alone. */
  readonly folder: string
  /** Scales a number of the full length; at least `least`. */
  amount(inFull: number, least?: number): number
  /** Creates an empty list. Its file, if it has one, is created when it is used first. */
  createList(): Promise<List>
  /** Tells the person who waits how far the trial is. */
  progress(line: string): void
}
