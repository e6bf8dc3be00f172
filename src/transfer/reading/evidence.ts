/** What a column holds, and whether one that the import does not read may say who left.  */

import { isBlank, isDate } from './dates.ts'
import { CONSENT_PARTS, HARMLESS_NAMES, STATUS_PARTS } from './programs.ts'
import { findFlag, LEFT_PARTS, saysLeft, toPlainValue, WORDS } from './words.ts'

/** Different values of a column that are counted. */
const MAX_VALUES = 20

/** All dates are one value. */
export const A_DATE = 'a date'

/** Among dates, a dash means no value. Otherwise it may be a mark. */
const DASH = /^[-–—]$/

/** The shape of an address, which is cheaper to test than what it says. */
const ADDRESS = /^[^\s@:]+@[^\s@:]+\.\p{L}+$/u

/** How sure a column is to say who left: by words, or only by what it looks like. */
export type Suspicion = 'words' | 'shape'

/** A column of a table. */
export interface Column {
  readonly index: number
  readonly name: string
  /** The name as it is compared. */
  readonly plain: string
  /** Its name in an option, or its number if another column has the name. */
  readonly option: string
  /** Its cells in the first rows, trimmed, without blank ones. */
  readonly sample: readonly string[]
}

/** What a column that is not read says about the people who would be added. */
export class Evidence {
  readonly column: Column
  /** The first cell that says that somebody left. */
  left: string | undefined
  /** Whether an object of JSON has a flag. */
  hasJsonFlag = false
  #rows = 0
  #filled = 0
  /** Undefined when there are too many values. */
  #counts: Map<string, number> | undefined = new Map()

  constructor(column: Column) {
    this.column = column
  }

  /** Adds the cell of a person who would be added. */
  add(text: string): void {
    const cell = text.trim()
    this.#rows++
    if (isBlank(cell)) return
    this.#filled++
    const counts = this.#counts
    // A number may be anything.
    const isNew = counts && !counts.has(cell)
    const value = isNew && Number.isNaN(Number(cell)) && isDate(cell) ? A_DATE : cell
    const count = counts?.get(value) ?? 0
    counts?.set(value, count + 1)
    if (count > 0) return
    if (counts && counts.size > MAX_VALUES) this.#counts = undefined
    // An address says nothing about its person.
    if (this.left === undefined && !ADDRESS.test(cell) && saysLeft(cell)) this.left = cell
    this.hasJsonFlag ||= cell.startsWith('{') && /:\s*"?(?:true|false|yes|no)\b/i.test(cell)
  }

  /** The number of dates, when there is nothing else but dashes; undefined otherwise. */
  get dates(): number | undefined {
    const others = [...(this.#counts?.keys() ?? [])].filter((value) => value !== A_DATE && !DASH.test(value))
    return others.length === 0 ? this.#counts?.get(A_DATE) : undefined
  }

  /** How many rows have each value; undefined when there are too many values. All dates are one value. */
  get values(): readonly (readonly [value: string, rows: number])[] | undefined {
    const { dates } = this
    return dates === undefined ? this.#counts && [...this.#counts] : [[A_DATE, dates]]
  }

  /** How many rows have no value. */
  get empty(): number {
    return this.#rows - (this.dates ?? this.#filled)
  }

  /** Whether a yes means a subscription. */
  get isConsent(): boolean {
    const { name, plain } = this.column
    return hasPart(plain, CONSENT_PARTS) && !hasPart(plain, LEFT_PARTS) && !NEGATION.test(name)
  }
}

/**
 * Returns why a column may say who left; undefined when nothing speaks for it.
 *
 * @param saysWhoLeft whether a column that is read says who unsubscribed. Then shapes are no evidence
 */
export function findSuspicion(evidence: Evidence, saysWhoLeft: boolean): Suspicion | undefined {
  const { values, empty, isConsent, left, hasJsonFlag } = evidence
  const { name, plain } = evidence.column
  if (values?.length === 0 || HARMLESS_NAMES.includes(plain) || isOtherChannel(name)) return undefined
  const hasLeftName = hasPart(plain, LEFT_PARTS) || WORDS.get(plain) === 'suppressed'
  const words = values?.map(([value]) => toPlainValue(value)) ?? []
  // Every row says the same: no, subscribed, or yes in a column of consent.
  const isEvery = (is: (word: string) => boolean) => empty === 0 && words.length > 0 && words.every(is)
  if (isEvery((word) => findFlag(word) === 'no')) return undefined
  if (!hasLeftName && isEvery((word) => WORDS.get(word) === 'subscribed')) return undefined
  if (isConsent && isEvery((word) => findFlag(word) === 'yes')) return undefined
  if (hasLeftName || left !== undefined) return 'words'
  if (saysWhoLeft) return undefined
  return hasPart(plain, STATUS_PARTS) || hasJsonFlag || hasShape(evidence, words) ? 'shape' : undefined
}

/** Whether the values look like a status: dates or a mark in some rows, yes and no, or words of which one is known. */
function hasShape({ dates, empty }: Evidence, words: readonly string[]): boolean {
  if (dates !== undefined) return empty > 0
  // A mark is one sign, which may be an emoji.
  if (empty > 0 && words.length === 1 && [...(words[0] ?? '')].length === 1) return true
  return words.length > 0 && (words.every(findFlag) || words.some((word) => WORDS.has(word)))
}

/** Makes a yes in a column of consent a no. In the languages of the page that use a word for it. */
const NEGATION =
  /\b(?:no|not|non|without|kein\w*|nicht|ohne|sans|sin|senza|geen|nie|sem|declin\w*|refus\w*|den(?:y|ied))\b/i

function hasPart(plain: string, parts: readonly string[]): boolean {
  return parts.some((part) => plain.includes(part))
}

/** Whether a name is about SMS, WhatsApp, push, fax or letters, and not about email too. */
function isOtherChannel(name: string): boolean {
  const words = name.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replace(/[^\p{L}\p{N}]+/gu, ' ')
  const rest = words.replace(/\b(?:direct|postal|paper) ?mail\b|\bmail by post\b/gi, 'by post')
  const isOther = /\b(?:sms|mms|whatsapp|push|fax|per post|by post|briefpost|postal)\b/i.test(rest)
  return isOther && !/mail|newsletter/i.test(rest)
}
