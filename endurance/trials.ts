/** Every trial, in the order in which they run. */

import type { Trial } from './trial.ts'
import { fsync } from './trials/fsync.ts'

export const TRIALS: readonly Trial[] = [fsync]
