/** What is doubtful about an import: what was seen in the file and on the list, and which options answer it. Pure. */

import { join, quote, quotePath, toCount, toNumber } from '../../words.ts'
import { BROKEN } from './breaks.ts'
import { isDate, SERIAL, UNCLEAR_DATE } from './dates.ts'
import {
  accepting,
  describeRow,
  type FileDoubt,
  isAccepted,
  type ListDoubt,
  naming,
  removing,
  treating,
} from './doubt.ts'
import type { Column } from './layout.ts'
import { DATE_NAMES, GLOBAL_STATUS, isAddressName, isHarmless } from './programs.ts'
import { findWhoLeft } from './who-left.ts'
import { saysNameLeft, toPlain } from './words.ts'

/** A cell of the address says, beside an address or without one, that somebody left. */
const findWordsBesideAddress: FileDoubt = (rows) => {
  if (!rows.words || isAccepted(rows, 'words')) return undefined
  const seen = `${describeRow(rows.words, rows)} says that somebody left. Import people who left with --suppress, from a file of their own`
  return { seen, answers: [accepting('words', 'if nobody left')] }
}

/** Somebody has no status. */
const findEmptyStatuses: FileDoubt = ({ values }) =>
  values
    .filter(({ isAssumed }) => isAssumed)
    .map((value) => ({
      seen: `${toCount(value.rows, 'row')} without a value of ${quote(value.column)} will be skipped`,
      answers: [treating(value, 'subscribed', 'adds them'), treating(value, 'skip', 'does not')],
    }))

/** The program has one status for all lists. */
const findGlobalStatus: FileDoubt = ({ layout, options, counts }) => {
  const has = (name: string) => layout.all.some(({ plain }) => plain === toPlain(name))
  const found = GLOBAL_STATUS.find((program) => program.columns.every(has))
  if (!found || options.statusColumn || counts.subscribed === 0 || options.suppress) return undefined
  return {
    seen: `exports of ${found.program} do not say who left one list: docs/import.md says how to export one`,
    answers: [{ option: '--status-column status', effect: 'if there is no other list' }],
  }
}

/** Dates cannot be added later. Those who are on the list already keep theirs. */
const findMissingDates: FileDoubt = (rows, effect) => {
  const { layout, options, profiles, subscribers } = rows
  const undated = (effect?.toAdd ?? subscribers).filter(({ subscribedAt }) => !subscribedAt)
  const [first] = undated
  if (options.dateColumn !== undefined || !first) return undefined
  const [usual] = layout.dates
  if (usual) {
    const example = describeRow({ line: first.line, cell: first.email }, rows)
    const seen = `${toCount(undated.length, 'row')} would be added without a date, such as ${example}`
    return { seen, answers: [naming('--date-column', usual, 'if that is right')] }
  }
  // Unix time from 2001 to 2033. Other numbers are rarely dates.
  const isLikeDate = (text: string) =>
    SERIAL.test(text) || /^1\d{9}(?:\d{3})?$/.test(text) || (Number.isNaN(Number(text)) && isDate(text))
  const candidate = [...profiles].find(([{ plain, name }, { values }]) => {
    const hasMostlyDates = [...values.keys()].filter(isLikeDate).length * 2 >= values.size
    const isOfDates = hasMostlyDates || DATE_NAMES.includes(plain)
    return values.size > 0 && isOfDates && !isHarmless(plain) && !saysNameLeft(name)
  })
  if (!candidate) return undefined
  const [column] = candidate
  const answers = [naming('--date-column', column, 'reads it'), { option: '--date-column none', effect: 'does not' }]
  return { seen: 'no date is read, and none can be added later', answers }
}

/** The line of the header, or a title, may be a row. */
const findLostLines: FileDoubt = (rows) => {
  const { table } = rows
  if (isAccepted(rows, 'lines')) return undefined
  const lines = [...table.title, table.header ?? ''].flatMap((text, index) =>
    text.includes('@') ? [{ text, index }] : [],
  )
  const [first] = lines
  if (!first) return undefined
  const more = lines.length > 1 ? ` and ${toNumber(lines.length - 1)} more` : ''
  const seen = `line ${first.index + 1} is not read as a row: ${quote(first.text)}${more}. Correct the file if it is one`
  return { seen, answers: [accepting('lines', 'if not')] }
}

/** Two lines may be one row. */
const findBrokenRows: FileDoubt = (rows) => {
  const { rejected, table } = rows
  const [first, second] = rejected.filter(({ reason }) => reason === BROKEN)
  if (!first || !second || isAccepted(rows, 'lines')) return undefined
  const seen = `${table.place}s ${first.line} and ${second.line} may be one row with a line break that is not in quotes`
  return { seen: `${seen}. Correct the file if they are`, answers: [accepting('lines', 'leaves them out')] }
}

const findUnclearDates: FileDoubt = ({ rejected }) => {
  const unclear = rejected.filter(({ reason }) => reason === UNCLEAR_DATE).length
  if (unclear === 0) return undefined
  const seen = `${toCount(unclear, 'date')} may be day/month or month/day`
  const answers = ['--date-order dmy', 'or mdy'].map((option) => ({ option, effect: '' }))
  return { seen, answers }
}

const findRejected: FileDoubt = ({ counts, options }) => {
  if (counts.rejected * 10 <= counts.all || options.rejected !== undefined) return undefined
  const seen = `rejected are ${toNumber(counts.rejected)} of ${toCount(counts.all, 'row')}`
  return { seen, answers: [{ option: '--rejected FILE', effect: 'keeps them' }] }
}

/**
 * Another column may be the right one: one that has an address and the name of one; or any that has an address, if the one that is
 * read has no such name; or one that has more addresses.
 */
const findOtherAddresses: FileDoubt = ({ layout: { address }, options, profiles, addresses }) => {
  const isNamed = ({ plain }: Column) => isAddressName(plain.replace(/\d/g, ''))
  const mustHaveMore = (column: Column) => isAddressName(address.plain) && !isNamed(column)
  const others = [...profiles].filter(([column, profile]) => {
    const most = mustHaveMore(column) ? addresses : 0
    return profile.addresses > most
  })
  const [first] = others
  if (!first || options.column) return undefined
  const described = others.map(
    ([{ name }, { addresses: count }]) => `${quote(name)} has ${toCount(count, 'address', 'addresses')}`,
  )
  const isOne = others.length === 1 && first[1].addresses === 1
  const areUnread = isOne ? 'is not read' : 'are not read'
  return {
    seen: `${join(described)} that ${areUnread}`,
    answers: [naming('--column', address, 'is right'), naming('--column', first[0], 'reads only these')],
  }
}

/** A status column says that people are subscribed, although the owner says that everybody left. */
const findContradiction: FileDoubt = ({ contradiction, layout }) => {
  if (!contradiction) return undefined
  const { column, value, rows: count } = contradiction
  const columns = layout.statuses.filter(({ saysWhoLeft }) => saysWhoLeft)
  const option = columns.map((status) => `--ignore-column ${quotePath(status.column.option)}`).join(' ')
  const seen = `${quote(column)} says that people are subscribed (${quote(value)}, ${toCount(count, 'row')}), and --suppress removes everybody`
  return { seen, answers: [{ option, effect: 'if everybody left' }] }
}

/** Somebody is on the list and skipped: who said yes before may say no now. */
const findSkippedListed: ListDoubt = ({ table }, effect) =>
  effect.skippedListed
    .filter(({ value }) => !value.isAnswered)
    .map((skipped) => {
      const { value, people, line } = skipped
      const stay = `${toCount(people, 'person', 'people')} on the list would be skipped, and stay`
      const seen = `${stay}: ${quote(value.column)} is ${quote(value.value)}, such as in ${table.place} ${line}`
      const remedies = skipped.removable > 0 ? [removing(skipped, effect)] : []
      return { seen, answers: [...remedies, treating(value, 'skip', 'leaves them')] }
    })

/** Somebody left, and nobody knows when. */
const findKept: ListDoubt = ({ options, table }, { undatedKept }) => {
  if (!undatedKept || options.undated !== undefined) return undefined
  const seen = `${toCount(undatedKept.people, 'person who left', 'people who left')} would stay on the list, because the file has no date, such as in ${table.place} ${undatedKept.line}`
  const answers = [
    { option: '--undated remove', effect: 'removes them' },
    { option: '--undated keep', effect: 'keeps them' },
  ]
  return { seen, answers }
}

/** A file of the wrong list, or of the wrong people, removes most subscribers. */
const findRemovals: ListDoubt = (rows, { removed, size }) => {
  if (removed * 2 <= size || isAccepted(rows, 'removals')) return undefined
  const seen = `it would remove ${toNumber(removed)} of ${toCount(size, 'person', 'people')} on the list`
  return { seen, answers: [accepting('removals', 'if that is right')] }
}

/** Doubts about the file. */
export const FILE_DOUBTS: readonly FileDoubt[] = [
  findContradiction,
  findWhoLeft,
  findWordsBesideAddress,
  findEmptyStatuses,
  findGlobalStatus,
  findMissingDates,
  findLostLines,
  findBrokenRows,
  findUnclearDates,
  findRejected,
  findOtherAddresses,
]

/** Doubts about what it would do to the list. */
export const LIST_DOUBTS: readonly ListDoubt[] = [findSkippedListed, findKept, findRemovals]
