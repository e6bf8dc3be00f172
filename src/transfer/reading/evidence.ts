/** What a column holds, and whether one that the import does not read may say who left. Decision 9 has the rules. */

import { parseOwnerAddresses } from './addresses.ts'
import { type DateOrder, findDateOrder, isBlank, isDate, toDateText } from './dates.ts'
import { toPlain } from './names.ts'
import { CONSENT_PARTS, HARMLESS_NAMES, STATUS_PARTS } from './programs.ts'
import { findFlag, LEFT_PARTS, saysLeft, toPlainValue, WORDS } from './words.ts'

/** Different values of a column that are counted. */
const MAX_VALUES = 20

/** Cells that show whether a column holds addresses or dates. */
const SAMPLE = 1000

/** All dates are one value. */
export const A_DATE = 'a date'

/** Among dates, a dash means no value. Otherwise it may be a mark. */
const DASH = /^[-–—]$/

/** The shape of an address, which is cheaper to test than what it says. */
const ADDRESS = /^[^\s@:]+@[^\s@:]+\.\p{L}+$/u

/** What the cells of a column are, without those that are blank. */
export class Profile {
  /** Of the first cells: addresses, yes or no, and objects of JSON with our date. */
  sampled = 0
  addresses = 0
  flags = 0
  objects = 0
  /** The orders that dates show. */
  readonly orders = new Set<DateOrder>()
  /** Of the rows that would be added: how many have each value, undefined when there are too many values. */
  values: Map<string, number> | undefined = new Map<string, number>()
  filled = 0
  /** The first cell that says that somebody left. */
  left: string | undefined
  /** Whether an object of JSON has a flag. */
  hasJsonFlag = false

  /** Adds a cell. @param isAdded whether the person in the row would be added */
  add(text: string, isAdded: boolean): void {
    const cell = text.trim()
    if (isBlank(cell)) return
    if (this.sampled < SAMPLE) {
      this.sampled++
      if (cell.includes('@') && parseOwnerAddresses(cell).ok) this.addresses++
      if (findFlag(toPlain(cell))) this.flags++
      if (cell.startsWith('{') && toDateText(cell) !== '') this.objects++
    }
    const order = findDateOrder(cell)
    if (order) this.orders.add(order)
    if (isAdded) this.addEvidence(cell)
  }

  private addEvidence(cell: string): void {
    this.filled++
    const { values } = this
    // A number may be anything.
    const isNew = values && !values.has(cell)
    const value = isNew && isDate(cell) && Number.isNaN(Number(cell)) ? A_DATE : cell
    const count = values?.get(value) ?? 0
    values?.set(value, count + 1)
    if (count > 0) return
    if (values && values.size > MAX_VALUES) this.values = undefined
    // An address says nothing about its person.
    if (!ADDRESS.test(cell) && saysLeft(cell)) this.left ??= cell
    this.hasJsonFlag ||= cell.startsWith('{') && /:\s*"?(?:true|false|yes|no)\b/i.test(cell)
  }

  /** The number of dates, when there is nothing else but dashes; undefined otherwise. */
  get dates(): number | undefined {
    const others = [...(this.values?.keys() ?? [])].filter((value) => value !== A_DATE && !DASH.test(value))
    return others.length === 0 ? this.values?.get(A_DATE) : undefined
  }
}

/** How sure a column is to say who left: by words, or only by what it looks like. */
export type Suspicion = 'words' | 'shape'

/** What is known about the whole table. */
interface Context {
  /** Number of rows that would be added. */
  readonly added: number
  /** Whether a column that is read says who unsubscribed. Then shapes are no evidence. */
  readonly saysWhoLeft: boolean
}

/** Returns why a column may say who left; undefined when nothing speaks for it. */
export function findSuspicion(
  name: string,
  profile: Profile,
  { added: rows, saysWhoLeft }: Context,
): Suspicion | undefined {
  const plain = toPlain(name)
  const { values, filled, left, hasJsonFlag } = profile
  if (filled === 0 || HARMLESS_NAMES.has(plain) || isOtherChannel(name)) return undefined
  const hasLeftName = hasPart(plain, LEFT_PARTS) || WORDS.get(plain) === 'suppressed'
  // Every row says the same: no, subscribed, or yes in a column of consent.
  const constants = values && filled >= rows ? [...values.keys()].map(toPlainValue) : []
  const isEvery = (is: (word: string) => boolean) => constants.length > 0 && constants.every(is)
  if (isEvery((word) => findFlag(word) === 'no')) return undefined
  if (!hasLeftName && isEvery((word) => WORDS.get(word) === 'subscribed')) return undefined
  if (isConsentName(name) && isEvery((word) => findFlag(word) === 'yes')) return undefined
  if (hasLeftName || left !== undefined) return 'words'
  if (saysWhoLeft) return undefined
  return hasPart(plain, STATUS_PARTS) || hasJsonFlag || hasShape(profile, rows) ? 'shape' : undefined
}

/** Whether a name is that of a column of consent: a yes in it means a subscription. */
export function isConsentName(name: string): boolean {
  const plain = toPlain(name)
  return hasPart(plain, CONSENT_PARTS) && !hasPart(plain, LEFT_PARTS) && !NEGATION.test(name)
}

// In the languages of the page that use a word for it.
const NEGATION =
  /\b(?:no|not|non|without|kein\w*|nicht|ohne|sans|sin|senza|geen|nie|sem|declin\w*|refus\w*|den(?:y|ied))\b/i

function hasPart(plain: string, parts: readonly string[]): boolean {
  return parts.some((part) => plain.includes(part))
}

/** Whether a name is about SMS, WhatsApp, push or letters, and not about email too. */
function isOtherChannel(name: string): boolean {
  const words = name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
  const rest = words.replace(/\b(?:direct|postal|paper) ?mail\b|\bmail by post\b/g, 'bypost')
  return (
    /\b(?:sms|mms|whatsapp|push|bypost|per post|by post|briefpost|postal)\b/.test(rest) && !/mail|newsletter/.test(rest)
  )
}

/** Whether the values look like a status: yes and no, dates or a mark in some rows, or words of which one is known. */
function hasShape({ values, filled, dates }: Profile, rows: number): boolean {
  if (dates !== undefined) return dates < rows
  if (!values) return false
  const words = [...values.keys()].map(toPlainValue)
  // A mark is one sign, which may be an emoji.
  if (filled < rows && words.length === 1 && [...(words[0] ?? '')].length === 1) return true
  return words.every(findFlag) || words.some((word) => WORDS.has(word))
}
