/** What one stranger can do with few requests. Each attack has a service of its own. */

import { aliases } from '../attacks/aliases.ts'
import type { Attack } from '../attacks/attack.ts'
import { caches } from '../attacks/caches.ts'
import { collisions } from '../attacks/collisions.ts'
import { costs } from '../attacks/costs.ts'
import { descriptors } from '../attacks/descriptors.ts'
import { largeBodies } from '../attacks/large-bodies.ts'
import { randomCosts } from '../attacks/random-costs.ts'
import { checkDuring } from '../check.ts'
import { findMissingPrlimit } from '../limits.ts'
import type { Figures, Trial } from '../trial.ts'

const ATTACKS: readonly Attack[] = [aliases, largeBodies, caches, descriptors, costs, randomCosts, collisions]

/** A longer text is a detail of the report. */
const LONGEST = 20

export const attacks: Trial = {
  name: 'attacks',
  promise:
    'no request costs more than ten times a valid one of its size; caches stay small; addresses with equal hashes cost no more than others; a body that is too large gets a 413; no path has an alias; too many connections do no lasting harm',
  minutes: { sqlite: 1.5 },
  findMissing: findMissingPrlimit,
  async run(context) {
    const figures: Record<string, Figures[string]> = {}
    for (const { name, run } of ATTACKS) {
      context.progress(name)
      Object.assign(figures, await checkDuring(name, () => run(context)))
    }
    const isShort = (value: Figures[string]) => String(value).length <= LONGEST
    const select = (isWanted: (value: Figures[string]) => boolean): Figures =>
      Object.fromEntries(Object.entries(figures).filter(([, value]) => isWanted(value)))
    return { figures: select(isShort), details: select((value) => !isShort(value)) }
  },
}
