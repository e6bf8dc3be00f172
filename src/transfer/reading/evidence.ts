/** Decides whether a column that the import does not read may say who left. Decision 9 has the rules. */

import { isBlank, isPlainDate } from './dates.ts'
import { toPlain } from './names.ts'
import { CONSENT_PARTS, HARMLESS_NAMES, LEFT_PARTS, OWN_NAMES, STATUS_PARTS } from './programs.ts'
import { findFlag, saysLeft, toPlainValue, WORDS } from './words.ts'

/** Different values of a column that are counted. */
const MAX_VALUES = 20

/** What a column holds in the rows that would be added. */
export interface Profile {
  /** How many rows have each value. Undefined when there are too many values. */
  values: Map<string, number> | undefined
  filled: number
  /** Dates before anything else but dashes. */
  dates: number
  /** Whether there is anything else. */
  hasOther: boolean
  /** The first cell that says that somebody left. */
  left: string | undefined
  /** Whether an object of JSON has a flag. */
  hasJsonFlag: boolean
}

export function createProfile(): Profile {
  return { values: new Map(), filled: 0, dates: 0, hasOther: false, left: undefined, hasJsonFlag: false }
}

/** Adds a cell of a row that would be added. */
export function addCell(profile: Profile, text = ''): void {
  const cell = text.trim()
  if (isBlank(cell)) return
  profile.filled++
  const { values } = profile
  const count = values?.get(cell)
  values?.set(cell, (count ?? 0) + 1)
  if (values && values.size > MAX_VALUES) profile.values = undefined
  // Among dates, a dash means no value. Otherwise it may be a mark.
  const isDash = /^[-–—]$/.test(cell)
  profile.hasOther ||= !isDash && !isPlainDate(cell)
  if (!isDash && !profile.hasOther) profile.dates++
  if (count !== undefined) return
  if (saysLeft(cell)) profile.left ??= cell
  profile.hasJsonFlag ||= cell.startsWith('{') && /:\s*"?(?:true|false|yes|no)\b/i.test(cell)
}

/** How sure a column is to say who left: by words, or only by what it looks like. */
export type Suspicion = 'words' | 'shape'

interface Evidence {
  readonly name: string
  readonly profile: Profile
  /** Number of rows that would be added. */
  readonly rows: number
  /** Whether a column that is read says who unsubscribed. Then shapes are no evidence. */
  readonly saysWhoLeft: boolean
}

/** Returns why a column may say who left; undefined when nothing speaks for it. */
export function findSuspicion({ name, profile, rows, saysWhoLeft }: Evidence): Suspicion | undefined {
  const plain = toPlain(name)
  if (profile.filled === 0 || HARMLESS_NAMES.has(plain) || isOtherChannel(name)) return undefined
  const hasLeftName = hasPart(plain, LEFT_PARTS) || WORDS.get(plain) === 'suppressed'
  if (isHarmlessConstant(profile, rows, { hasLeftName, isConsent: isConsentName(name) })) return undefined
  if (hasLeftName || profile.left !== undefined) return 'words'
  if (saysWhoLeft) return undefined
  return hasPart(plain, STATUS_PARTS) || profile.hasJsonFlag || hasShape(profile, rows) ? 'shape' : undefined
}

/** Whether the file has a column that only one program has. */
export function hasOwnColumn(names: readonly string[]): boolean {
  return names.some((name) => OWN_NAMES.has(toPlain(name)))
}

/** Whether a name is that of a column of consent: a yes in it means a subscription. */
export function isConsentName(name: string): boolean {
  const plain = toPlain(name)
  return hasPart(plain, CONSENT_PARTS) && !hasPart(plain, LEFT_PARTS) && !NEGATION.test(name)
}

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

/** Whether every row says no, or subscribed, or yes in a column of consent. */
function isHarmlessConstant(
  { values, filled }: Profile,
  rows: number,
  { hasLeftName, isConsent }: { readonly hasLeftName: boolean; readonly isConsent: boolean },
): boolean {
  if (!values || filled < rows) return false
  const words = [...values.keys()].map(toPlainValue)
  if (words.every((word) => findFlag(word) === 'no')) return true
  if (hasLeftName) return false
  return (
    words.every((word) => WORDS.get(word) === 'subscribed') ||
    (isConsent && words.every((word) => findFlag(word) === 'yes'))
  )
}

/** Whether the values look like a status: yes and no, dates or a mark in some rows, or words of which one is known. */
function hasShape({ values, filled, dates, hasOther }: Profile, rows: number): boolean {
  if (dates > 0 && !hasOther) return dates < rows
  if (!values) return false
  const words = [...values.keys()].map(toPlainValue)
  // A mark is one sign, which may be an emoji.
  if (filled < rows && words.length === 1 && [...(words[0] ?? '')].length === 1) return true
  return words.every(findFlag) || words.some((word) => WORDS.has(word))
}
