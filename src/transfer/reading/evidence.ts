/** What a column holds, and whether one that the import does not read may say who left. Decision 9 has the rules. */

import { parseOwnerAddresses } from './addresses.ts'
import { type DateOrder, findDateOrder, isBlank, isPlainDate, toDateText } from './dates.ts'
import { toPlain } from './names.ts'
import { CONSENT_PARTS, HARMLESS_NAMES, LEFT_PARTS, STATUS_PARTS } from './programs.ts'
import { findFlag, saysLeft, toPlainValue, WORDS } from './words.ts'

/** Different values of a column that are counted. */
const MAX_VALUES = 20

/** Cells that show whether a column holds addresses or dates. */
const SAMPLE = 1000

export interface Profile {
  /** Of the first cells that are not empty: addresses, yes or no, and objects of JSON with our date. */
  sampled: number
  addresses: number
  flags: number
  objects: number
  /** The orders that dates show. */
  readonly orders: Set<DateOrder>
  /** Of the rows that would be added: how many have each value, undefined when there are too many values. */
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
  const sample = { sampled: 0, addresses: 0, flags: 0, objects: 0 }
  const evidence = { values: new Map(), filled: 0, dates: 0, hasOther: false, left: undefined, hasJsonFlag: false }
  return { ...sample, orders: new Set(), ...evidence }
}

/** Adds a cell. @param isAdded whether the person in the row would be added */
export function addCell(profile: Profile, text: string, isAdded: boolean): void {
  const cell = text.trim()
  if (isBlank(cell)) return
  if (profile.sampled < SAMPLE) {
    profile.sampled++
    if (cell.includes('@') && parseOwnerAddresses(cell).ok) profile.addresses++
    if (findFlag(toPlain(cell))) profile.flags++
    if (cell.startsWith('{') && toDateText(cell) !== '') profile.objects++
  }
  const order = findDateOrder(cell)
  if (order && order !== 'unclear') profile.orders.add(order)
  if (isAdded) addEvidence(profile, cell)
}

function addEvidence(profile: Profile, cell: string): void {
  profile.filled++
  // Among dates, a dash means no value. Otherwise it may be a mark.
  const isDash = /^[-–—]$/.test(cell)
  profile.hasOther ||= !isDash && !isPlainDate(cell)
  if (!isDash && !profile.hasOther) profile.dates++
  const count = profile.values?.get(cell) ?? 0
  profile.values?.set(cell, count + 1)
  if (count > 0) return
  if (profile.values && profile.values.size > MAX_VALUES) profile.values = undefined
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
