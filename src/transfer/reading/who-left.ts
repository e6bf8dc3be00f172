/** The doubt about who left: nothing in a file says it, or columns that are not read do. Pure. */

import { basename } from 'node:path'
import { join, quote, quotePath } from '../../words.ts'
import { type Answer, accepting, type Doubt, describeRow, type FileDoubt, isAccepted, naming } from './doubt.ts'
import type { Column } from './layout.ts'
import { MAX_VALUES, type Profile } from './profile.ts'
import { isHarmless, STATUS_NAME, SUBSCRIBERS_ONLY, UNRELATED_NAMES } from './programs.ts'
import type { Rows } from './rows.ts'
import { findFlag, saysNameLeft, saysTitleLeft, toPlain } from './words.ts'

/** What in a column says that somebody left, or no. */
interface Sign {
  readonly says: 'that somebody left' | 'no for somebody'
  /** Such as `its name` or `line 3 "nein"`. */
  readonly where: string
}

/** A column that is not read, what it holds, and what in it says that somebody left or no; undefined when nothing does. */
interface Unread {
  readonly column: Column
  readonly profile: Profile
  readonly sign: Sign | undefined
}

/**
 * The columns that are not read, that the owner does not ignore, and whose names do not show that they are about something else: those
 * first that are most likely to say who left.
 */
function findUnread(rows: Rows): readonly Unread[] {
  const related = [...rows.profiles].filter(([{ plain }]) => !UNRELATED_NAMES.has(plain))
  const found = related.map(([column, profile]) => ({ column, profile, sign: findSign(column, profile, rows) }))
  return found.toSorted((one, other) => toLikelihood(other) - toLikelihood(one))
}

function findSign({ name, plain }: Column, { left, no, values }: Profile, rows: Rows): Sign | undefined {
  if (left) return { says: 'that somebody left', where: describeRow(left, rows) }
  if (isHarmless(plain)) return undefined
  if (saysNameLeft(name)) {
    // In a column such as "Unsubscribed", no means that the person did not leave.
    const hasOtherThanNo = [...values.keys()].some((value) => findFlag(toPlain(value)) !== 'no' && Number(value) !== 0)
    return hasOtherThanNo ? { says: 'that somebody left', where: 'its name' } : undefined
  }
  // Of an export that has subscribers only, such a column is about something else, unless its name says more.
  if (isOfSubscribers(rows) && !STATUS_NAME.test(plain)) return undefined
  return no && { says: 'no for somebody', where: describeRow(no, rows) }
}

/** How likely a column says who left: each fact about it outweighs all that stand below it. */
function toLikelihood({ column, profile, sign }: Unread): number {
  const { values, others, hasFlagsOnly } = profile
  let likelihood = 0
  if (sign?.says === 'that somebody left') likelihood += 16
  if (STATUS_NAME.test(column.plain)) likelihood += 8
  if (sign?.says === 'no for somebody') likelihood += 4
  if (hasFlagsOnly) likelihood += 2
  // A status repeats in many rows. A name, a place or a number of a customer does so rarely.
  if (values.size <= MAX_VALUES && values.size < others) likelihood += 1
  return likelihood
}

const describeSuspect = ({ column, sign }: Unread) => quote(column.name) + (sign ? ` (${sign.where})` : '')

/** Whether a status column, or the program, says who left. */
function isKnown(rows: Rows): boolean {
  return isOfSubscribers(rows) || rows.layout.statuses.some(({ saysWhoLeft }) => saysWhoLeft)
}

const isOfSubscribers = ({ layout }: Rows) => layout.all.some(({ plain }) => SUBSCRIBERS_ONLY.includes(plain))

/** The columns that are not read, and that may say who left. */
export function findSuspects(rows: Rows): readonly Unread[] {
  const unread = findUnread(rows)
  // Nothing says who left, and that may be a doubt.
  const isSilent = isSilenceDoubtful(rows) && !isKnown(rows)
  const isUnknown = ({ column, profile }: Unread) =>
    profile.others > 0 && !profile.saysNothing && !isHarmless(column.plain)
  return unread.filter((one) => one.sign || (isSilent && isUnknown(one)))
}

/** Nothing says who left, and something may; or columns that are not read say so. Both are one fact. */
export const findWhoLeft: FileDoubt = (rows) => {
  const suspects = findSuspects(rows)
  const silence = isSilenceDoubtful(rows) ? findSilence(rows, suspects) : undefined
  return silence ?? toSpeaking(suspects)
}

/** Whether it may be a doubt that nothing says who left: somebody would be added, and the owner has not said that nobody left. */
function isSilenceDoubtful(rows: Rows): boolean {
  return rows.counts.subscribed > 0 && !isAccepted(rows, 'silence')
}

const EVERYBODY: Answer = { option: '--suppress', effect: 'if everybody left' }

/** Nothing says who left, and a title or a column may. A file with addresses alone is no doubt. */
function findSilence(rows: Rows, suspects: readonly Unread[]): Doubt | undefined {
  const title = findTitleLeft(rows)
  if (title !== undefined) return toTitleDoubt(title, suspects)
  return isKnown(rows) ? undefined : findSilentColumns(suspects)
}

/** A title that says that people left is a doubt in any case. */
function toTitleDoubt(title: string, suspects: readonly Unread[]): Doubt {
  const seen = `the ${title} says that people left, but nothing in it says who left`
  const [first] = suspects
  if (!first) return { seen, answers: [EVERYBODY, accepting('silence', 'if nobody left')] }
  // To ignore a column does not answer what the title says.
  const answers = [naming('--status-column', first.column, 'if it does'), accepting('silence', 'if not'), EVERYBODY]
  return { seen: `${seen}, and ${describeUnread(suspects)}`, answers }
}

/** Columns that are not read may say who left. */
function findSilentColumns(suspects: readonly Unread[]): Doubt | undefined {
  const [first, ...others] = suspects
  if (!first) return undefined
  const ignoring = naming('--ignore-column', first.column, 'if not')
  const no = others.length === 0 ? ignoring : accepting('silence', 'if not')
  const answers = [naming('--status-column', first.column, 'if it does'), no, EVERYBODY]
  return { seen: `nothing in it says who left, and ${describeUnread(suspects)}`, answers }
}

/** Such as `"VIP" and "Notes" are not read`. */
function describeUnread(suspects: readonly Unread[]): string {
  const names = join(suspects.map(describeSuspect))
  return `${names} ${suspects.length === 1 ? 'is' : 'are'} not read`
}

/** What says that the people in the file left, while no row of it does: its name, or the lines above its header. */
function findTitleLeft({ table, counts }: Rows): string | undefined {
  if (counts.suppressed > 0) return undefined
  if (saysTitleLeft(basename(table.file))) return 'name of the file'
  return saysTitleLeft(table.title.join('\n')) ? 'title' : undefined
}

/** Here all have a sign: a column without one is a suspect only while nothing says who left, and then `findSilence` has its doubt. */
function toSpeaking(speaking: readonly Unread[]): Doubt | undefined {
  const [first, ...others] = speaking
  if (!first?.sign) return undefined
  if (others.length === 0) {
    const { column, sign } = first
    return {
      seen: `${quote(column.name)} says ${sign.says} (${sign.where}), and is not read`,
      answers: [naming('--status-column', column, 'reads it'), naming('--ignore-column', column, 'does not')],
    }
  }
  const option = speaking.map(({ column }) => `--ignore-column ${quotePath(column.option)}`).join(' ')
  return {
    seen: `${join(speaking.map(describeSuspect))} say that somebody left, or no, and are not read`,
    answers: [naming('--status-column', first.column, 'reads the first one'), { option, effect: 'reads none' }],
  }
}
