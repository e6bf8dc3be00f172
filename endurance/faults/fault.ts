/** What a fault is, and what the service must do while it lasts. */

import type { Environment, List, Service } from '../rollcall.ts'
import type { Faults } from '../shim/shim.ts'

/** A service under load on a list of its own. */
export interface Scene {
  readonly service: Service
  readonly list: List
  /** The folder of the list's file; on PostgreSQL it is empty. */
  readonly dataFolder: string
  /** Faults that the shim makes. */
  readonly shim: Faults
}

export interface Fault {
  readonly name: string
  /** Milliseconds that it lasts. */
  readonly lasts: number
  /**
   * What requests get while it lasts: `500` at least one 500, `200` no 500, `either`.
   * `lost` is a list that is no longer where it was: only 500s, 503 from /readyz, and one clear line in the log.
   */
  readonly responses: '500' | '200' | 'either' | 'lost'
  /** What a line of the log says about the cause. */
  readonly reason?: RegExp
  /** Whether some commits succeed meanwhile. The log then has a line each second at most. */
  readonly isIntermittent?: boolean
  /** Whether the shim makes it, so that the shim can tell that it took effect. */
  readonly isFromShim?: boolean
  /** Whether nothing can bring the list back. The service then saves what the open file still holds. */
  readonly isFinal?: boolean
  /** Settings of the service that the fault needs. */
  readonly env?: Environment
  /** Causes it. Returns what ends it. */
  cause(scene: Scene): Promise<() => void | Promise<void>>
}
