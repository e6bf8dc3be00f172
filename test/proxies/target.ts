/** What a check works on. */

import type { RunningProxy } from './proxy.ts'
import type { Setup } from './setups.ts'

export interface Target {
  readonly setup: Setup
  readonly proxy: RunningProxy
  /** Returns the addresses on the list. */
  readonly readList: () => Promise<readonly string[]>
}
