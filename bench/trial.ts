/** What a trial is. */

import type { CommandName } from './command.ts'
import type { ContenderName } from './contenders.ts'
import type { Requests } from './requests.ts'
import type { Metric } from './sample.ts'

/** The load of a trial. */
export type Load =
  /** As many requests as the server can handle, from wrk. */
  | {
      readonly kind: 'full'
      readonly requests: Requests
      readonly connections: number
      /** Seconds of load, if more than in other trials. */
      readonly minSeconds?: number
      /** Whether all processes share all cores. Default: the load generator has a core of its own. */
      readonly isSpread?: boolean
    }
  /** Half of that rate, on a schedule that does not wait for responses. */
  | { readonly kind: 'half'; readonly connections: number }
  /** No load: only the start is measured. */
  | { readonly kind: 'start' }
  /** A command of the command line. */
  | { readonly kind: 'command'; readonly command: CommandName }
  /** No load: pages behind cursors are read. */
  | { readonly kind: 'pages' }

/** A comparison: the figure of the subject, divided by the best figure of the others in the same round. */
export interface Comparison {
  readonly metric: Metric
  readonly subject: ContenderName
  readonly against: readonly ContenderName[]
  /** A name for the others. */
  readonly called: string
  readonly goal?: Goal
}

/** The goal for a figure or a ratio. */
export type Goal = { readonly atLeast: number } | { readonly atMost: number }

/** A goal for a figure that is not compared. */
export interface Ceiling {
  readonly metric: Metric
  readonly subject: ContenderName
  readonly atMost: number
}

export interface Trial {
  readonly name: string
  readonly title: string
  readonly load: Load
  readonly contenders: readonly ContenderName[]
  readonly comparisons?: readonly Comparison[]
  readonly ceilings?: readonly Ceiling[]
}
