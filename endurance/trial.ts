/** What a trial is, and what it may use. */

import type { Random } from './random.ts'
import type { List } from './rollcall.ts'

export const STORES = ['sqlite', 'postgres'] as const
export type StoreKind = (typeof STORES)[number]

/** What a trial measured, by name. Strings appear in the report as they are. */
export type Figures = Readonly<Record<string, string | number>>

export interface Findings {
  /** The few figures that show that the promise was tried. */
  readonly figures: Figures
  /** More of them, for a section of its own. */
  readonly details?: Figures
}

export interface Trial {
  readonly name: string
  /** What the trial must show, in one line. */
  readonly promise: string
  /**
   * About how many minutes it takes at its default length, for each store that it applies to, on a machine with two
   * cores and no other work.
   */
  readonly minutes: Readonly<Partial<Record<StoreKind, number>>>
  /** Says in one line what this machine lacks; undefined when the trial can run. */
  readonly findMissing?: () => string | undefined
  /** Runs the trial. @throws BrokenPromise when the service does not do what it promises */
  run(context: TrialContext): Promise<Findings>
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
  /** Creates an empty list. Its file, if it has one, is created when it is used first. */
  createList(): Promise<List>
  /** Tells the person who waits how far the trial is. */
  progress(line: string): void
}
