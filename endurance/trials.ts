/** Every trial, in the order in which they run: the quick ones first. */

import type { Trial } from './trial.ts'
import { attacks } from './trials/attacks.ts'
import { bloat } from './trials/bloat.ts'
import { connections } from './trials/connections.ts'
import { faults } from './trials/faults.ts'
import { fsync } from './trials/fsync.ts'
import { fuzz } from './trials/fuzz.ts'
import { model } from './trials/model.ts'
import { permissions } from './trials/permissions.ts'
import { powerCuts } from './trials/power-cuts.ts'
import { readers } from './trials/readers.ts'
import { soak } from './trials/soak.ts'
import { timing } from './trials/timing.ts'

export const TRIALS: readonly Trial[] = [
  fsync,
  permissions,
  timing,
  connections,
  attacks,
  readers,
  powerCuts,
  fuzz,
  faults,
  model,
  bloat,
  soak,
]
