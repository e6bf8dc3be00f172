/** What a column holds, and whether one that the import does not read may say who left. Decision 9 has the rules. */

import { isBlank, isDate } from './dates.ts'
import { CONSENT_PARTS, HARMLESS_NAMES, STATUS_PARTS } from './programs.ts'
import { findFlag, LEFT_PARTS, saysLeft, toPlain, toPlainValue, WORDS } from './words.ts'

/** Different values of a column that are counted. */
const MAX_VALUES = 20

/** All dates are one value. */
export const A_DATE = 'a date'

/** Among dates, a dash means no value. Otherwise it may be a mark. */
const DASH = /^[-–—]$/

/** The shape of an address, which is cheaper to test than what it says. */
const ADDRESS = /^[^\s@:]+@[^\s@:]+\.\p{L}+$/u

/** What the cells of a column say about the people who would be added. */
export class Evidence {
  /** How many rows have each value; undefined when there are too many values. */
  values: Map<string, number> | undefined = new Map<string, number>()
  filled = 0
  /** The first cell that says that somebody left. */
  left: string | undefined
  /** Whether an object of JSON has a flag. */
  hasJsonFlag = false

  add(text: string): void {
    const cell = text.trim()
    if (isBlank(cell)) return
    this.filled++
    const { values } = this
    // A number may be anything.
    const isNew = values && !values.has(cell)
    const value = isNew && Number.isNaN(Number(cell)) && isDate(cell) ? A_DATE : cell
    const count = values?.get(value) ?? 0
    values?.set(value, count + 1)
    if (count > 0) return
    if (values && values.size > MAX_VALUES) this.values = undefined
    // An address says nothing about its person.
    if (this.left === undefined && !ADDRESS.test(cell) && saysLeft(cell)) this.left = cell
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
export interface Context {
  /** Number of rows that would be added. */
  readonly added: number
  /** Whether a column that is read says who unsubscribed. Then shapes are no evidence. */
  readonly saysWhoLeft: boolean
}

/** Returns why a column may say who left; undefined when nothing speaks for it. */
export function findSuspicion(name: string, evidence: Evidence, table: Context): Suspicion | undefined {
  const plain = toPlain(name)
  const { values, filled, left, hasJsonFlag } = evidence
  if (filled === 0 || HARMLESS_NAMES.includes(plain) || isOtherChannel(name)) return undefined
  const hasLeftName = hasPart(plain, LEFT_PARTS) || WORDS.get(plain) === 'suppressed'
  // Every row says the same: no, subscribed, or yes in a column of consent.
  const constants = values && filled >= table.added ? [...values.keys()].map(toPlainValue) : []
  const isEvery = (is: (word: string) => boolean) => constants.length > 0 && constants.every(is)
  if (isEvery((word) => findFlag(word) === 'no')) return undefined
  if (!hasLeftName && isEvery((word) => WORDS.get(word) === 'subscribed')) return undefined
  if (isConsentName(name) && isEvery((word) => findFlag(word) === 'yes')) return undefined
  if (hasLeftName || left !== undefined) return 'words'
  if (table.saysWhoLeft) return undefined
  return hasPart(plain, STATUS_PARTS) || hasJsonFlag || hasShape(evidence, table.added) ? 'shape' : undefined
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

/** Whether a name is about SMS, WhatsApp, push, fax or letters, and not about email too. */
function isOtherChannel(name: string): boolean {
  const words = name.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replace(/[^\p{L}\p{N}]+/gu, ' ')
  const rest = words.replace(/\b(?:direct|postal|paper) ?mail\b|\bmail by post\b/gi, 'by post')
  const isOther = /\b(?:sms|mms|whatsapp|push|fax|per post|by post|briefpost|postal)\b/i.test(rest)
  return isOther && !/mail|newsletter/i.test(rest)
}

/** Whether the values look like a status: yes and no, dates or a mark in some rows, or words of which one is known. */
function hasShape({ values, filled, dates }: Evidence, rows: number): boolean {
  if (dates !== undefined) return dates < rows
  if (!values) return false
  const words = [...values.keys()].map(toPlainValue)
  // A mark is one sign, which may be an emoji.
  if (filled < rows && words.length === 1 && [...(words[0] ?? '')].length === 1) return true
  return words.every(findFlag) || words.some((word) => WORDS.has(word))
}
