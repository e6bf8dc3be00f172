/** What an import would do to one list: its count, and the rows that the count is about. Pure. */

import { type Address, toIdentity } from '../../email.ts'
import type { ImportCount } from '../../store/batches.ts'
import type { ImportTally, OptOut, OptOutTally } from '../../subscriber.ts'
import type { Cell } from './profile.ts'
import type { Rows } from './rows.ts'
import type { Value } from './statuses.ts'

/** People, of whom one may be in several rows, and the line or record of the first row. */
interface People {
  readonly people: number
  readonly line: number
}

/** People whose rows are skipped for one value. */
export interface Skipped extends People {
  readonly value: Value
  /** Those whom it would remove if the value meant that they left. */
  readonly removable: number
  /** Whether they are removed only with `--undated remove`, because the dates of some are unknown. */
  readonly areUndated: boolean
}

export interface Effect extends ImportTally, OptOutTally {
  /** Subscribers of the list before; 0 when nobody would be removed, because nothing asks for it then. */
  readonly size: number
  /** People on the list who are in a row that is skipped, and in no other, by the value that says so. */
  readonly skippedListed: readonly Skipped[]
  /** Why people who left stay on the list. */
  readonly reasonOfKept: string
  /** People who left on an unknown date, and stay on the list for that reason. */
  readonly undatedKept: People | undefined
  /** The rows that would be added. All others are on the list, suppressed, or repeat one of these. */
  readonly toAdd: Rows['subscribers']
  /** Rows that are not added, because their address is suppressed, and why. */
  readonly leftOutRows: readonly (Cell & { readonly reason: string })[]
}

/** @param hasCursor whether the cursor of a hand-over says who stays, and no date does */
export function toEffect(rows: Rows, count: ImportCount, hasCursor: boolean): Effect {
  const { tally, size } = count
  return {
    ...tally,
    size,
    reasonOfKept: hasCursor ? 'not handed over yet' : 'subscribed later, or the date is unknown',
    skippedListed: findSkippedListed(rows, count, hasCursor),
    undatedKept: hasCursor ? undefined : findUndatedKept(rows, count),
    toAdd: rows.subscribers.filter((_, index) => count.subscribers[index] === 'added'),
    leftOutRows: findLeftOut(rows, count),
  }
}

/** Counts people, and not their rows. */
const countPeople = (found: readonly { readonly email: Address }[]) =>
  new Set(found.map(({ email }) => toIdentity(email))).size

function findSkippedListed(rows: Rows, { skipped }: ImportCount, hasCursor: boolean): readonly Skipped[] {
  const listed = rows.skipped
    .map((row, index) => ({ ...row, outcome: skipped[index] }))
    // Any other outcome means that the address is on the list: see ImportCount.
    .filter(({ outcome }) => outcome !== 'suppressed')
  if (listed.length === 0) return []
  // Another row of the same person counts more.
  const others = new Set([...rows.subscribers, ...rows.optOuts].map(({ email }) => toIdentity(email)))
  const alone = listed.filter(({ email }) => !others.has(toIdentity(email)))
  const byValue = Map.groupBy(alone, ({ value }) => value)
  return [...byValue].flatMap(([value, found]) => {
    const [first] = found
    if (!first) return []
    const isUndated = ({ optedOutAt }: OptOut) => !optedOutAt && !hasCursor
    // With `--undated keep`, who left on an unknown date would stay also with `--treat …=suppressed`.
    const isKept = (row: OptOut) => isUndated(row) && rows.options.undated === 'keep'
    const removed = found.filter((row) => row.outcome === 'removed' && !isKept(row))
    const areUndated = removed.some(isUndated)
    return { value, people: countPeople(found), line: first.line, removable: countPeople(removed), areUndated }
  })
}

function findUndatedKept(rows: Rows, { optOuts }: ImportCount): People | undefined {
  const kept = rows.optOuts.filter(({ optedOutAt }, index) => !optedOutAt && optOuts[index] === 'kept')
  if (kept.length === 0) return undefined
  // Another row of the same person may have the date.
  const removed = new Set(
    rows.optOuts.filter((_, index) => optOuts[index] === 'removed').map(({ email }) => toIdentity(email)),
  )
  const staying = kept.filter(({ email }) => !removed.has(toIdentity(email)))
  const [first] = staying
  return first && { people: countPeople(staying), line: first.line }
}

const SUPPRESSED =
  'the address is suppressed on this list: the person was removed or left. "remove --forget" lets it be imported'
const LEFT_HERE = 'another row says that the person left'

function findLeftOut(rows: Rows, { subscribers, tally }: ImportCount): Effect['leftOutRows'] {
  if (tally.leftOut === 0) return []
  const left = new Set(rows.optOuts.map(({ email }) => toIdentity(email)))
  return rows.subscribers
    .filter((_, index) => subscribers[index] === 'leftOut')
    .map(({ email, line }) => ({ line, reason: left.has(toIdentity(email)) ? LEFT_HERE : SUPPRESSED, cell: email }))
}
