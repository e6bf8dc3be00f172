/** What a stranger or a careless client can do with few requests. */

import type { Figures, TrialContext } from '../trial.ts'

export interface Attack {
  readonly name: string
  /** Attacks a service of its own. @throws BrokenPromise when the service does not withstand it */
  run(context: TrialContext): Promise<Figures>
}
