/** Opt-outs of other lists, the same in every store. */

import { toIdentity } from '../email.ts'
import type { OptOut } from '../subscriber.ts'

/** Returns one opt-out per address: the last one, or one without a date if that removes every subscriber. */
export function mergeOptOuts(
  rows: readonly OptOut[],
  { removeUndated }: { removeUndated: boolean },
): readonly OptOut[] {
  const undated = removeUndated ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
  const rank = ({ optedOutAt }: OptOut) => optedOutAt?.getTime() ?? undated
  const merged = new Map<string, OptOut>()
  for (const row of rows) {
    const identity = toIdentity(row.email)
    const before = merged.get(identity)
    if (!before || rank(row) > rank(before)) merged.set(identity, row)
  }
  return [...merged.values()]
}
