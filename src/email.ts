/**
 * The address rule, for the endpoint, the page, the import and the published contract; and addresses as people type and paste
 * them, for the page and the import. Pure; also runs in browsers.
 */

import { MAX_ADDRESS_LENGTH, MAX_EXPLAINED_LENGTH, MAX_LOCAL_PART_LENGTH } from './limits.ts'

/** An address that matches the rule: trimmed, in the spelling that was given. */
export type Address = string & { readonly address: unique symbol }

/** What parsing returns: the value, or why there is none. */
export type Result<Value, Reason> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly reason: Reason }

/** The reasons why a value is not an address. errors.ts has a hint for each. */
export type AddressReason =
  | 'missing'
  | 'not_a_string'
  | 'empty'
  | 'too_long'
  | 'display_name'
  | 'several'
  | 'invisible'
  | 'non_ascii_domain'
  | 'non_ascii'
  | 'malformed'

// atext: RFC 5322 section 3.2.3. The backslashes are for the `v` flag, with which browsers compile HTML patterns.
const ATEXT = "[A-Za-z0-9!#$%&'*+\\/=?^_`\\{\\|\\}~\\-]"
// LDH label: RFC 1123 section 2.1, RFC 5890 section 2.3.1.
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?'
// Every top-level domain has at least two characters and begins with a letter: RFC 3696 section 2, and `xn--` of RFC 5890.
const LAST_LABEL = '[A-Za-z][A-Za-z0-9\\-]{0,61}[A-Za-z0-9]'

/**
 * The rule as a pattern, published in the contract: a dot-atom, `@`, and at least two LDH labels of at most 63 characters.
 * White space around the address is allowed and does not count: `\s` and String.prototype.trim have the same characters
 * (ECMA-262 section 22.2.2.9). It has no look-ahead, so that engines without backtracking compile it. So the limits of 64 and
 * 254 characters are not in it, but in the words and `maxLength` of the contract.
 */
export const ADDRESS_PATTERN = `^\\s*${ATEXT}+(?:\\.${ATEXT}+)*@(?:${LABEL}\\.)+${LAST_LABEL}\\s*$`

const PATTERN = new RegExp(ADDRESS_PATTERN)

/** Parses untrusted input of any type; a string is trimmed first (ECMA-262 white space). */
export function parseAddress(value: unknown): Result<Address, AddressReason> {
  if (typeof value !== 'string') return { ok: false, reason: value === undefined ? 'missing' : 'not_a_string' }
  const text = value.trim()
  if (isShort(text) && PATTERN.test(text)) return { ok: true, value: text as Address }
  return { ok: false, reason: toReason(text.slice(0, MAX_EXPLAINED_LENGTH)) }
}

/**
 * Returns the identity of an address, which is unique on the list: the whole address in ASCII lower case.
 * Tags (`+x`) and dots stay, because only the receiving host knows what they mean (RFC 5321 section 2.3.11).
 */
export function toIdentity(address: Address): string {
  // The rule allows only ASCII, so this changes only A to Z.
  return address.toLowerCase()
}

/** Whether an address is in a domain that is reserved for tests and examples (RFC 2606, RFC 6761). */
export function isReserved(address: Address): boolean {
  return RESERVED.test(toIdentity(address))
}

/** The reserved domains. Their subdomains are reserved too. */
export const RESERVED_DOMAINS = [
  'example.com',
  'example.org',
  'example.net',
  'example',
  'test',
  'invalid',
  'localhost',
] as const

/** Matches a text with a non-ASCII character. */
const NON_ASCII = /[^\0-\x7f]/

/** The soft hyphen, zero-width characters, marks of direction, and the byte order mark. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g

const RESERVED = new RegExp(`[@.](?:${RESERVED_DOMAINS.join('|').replace(/\./g, '\\.')})$`)

/** An address in angle brackets, at the end of a text. */
const BRACKETS_AT_END = /<[^<>@]*@[^<>@]*>$/

/** Finds the reason that helps the sender most. The text does not match the rule, and may be longer than an address. */
function toReason(text: string): AddressReason {
  if (text === '') return 'empty'
  if (hasSeveral(text, /[,;\r\n]/)) return 'several'
  // Before spaces are checked, because some programs write `a@example.org <a@example.org>`.
  if (BRACKETS_AT_END.test(text)) return 'display_name'
  if (hasSeveral(text, /\s/)) return 'several'
  if (!isShort(text)) return 'too_long'
  if (isPrintableAscii(text)) return 'malformed'
  if (text.search(INVISIBLE) >= 0) return 'invisible'
  const at = text.lastIndexOf('@')
  return at > 0 && isPrintableAscii(text.slice(0, at)) && NON_ASCII.test(text.slice(at))
    ? 'non_ascii_domain'
    : 'non_ascii'
}

/** Whether a text keeps the limits of an address and of its local part: RFC 5321 sections 4.5.3.1.1 and 4.5.3.1.3. */
function isShort(text: string): boolean {
  return text.length <= MAX_ADDRESS_LENGTH && text.indexOf('@') <= MAX_LOCAL_PART_LENGTH
}

function hasSeveral(text: string, separator: RegExp): boolean {
  return text.split(separator).filter((part) => part.includes('@')).length > 1
}

function isPrintableAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text)
}

/** Parses an address as it is, or else what `toBareAddress` leaves of it, with its domain in ASCII. */
export function parseTypedAddress(value: unknown): Result<Address, AddressReason> {
  const typed = parseAddress(value)
  if (typed.ok) return typed
  if (typeof value !== 'string' || value.length > MAX_EXPLAINED_LENGTH) return typed
  const bare = parseAddress(toAsciiDomain(toBareAddress(value)))
  if (bare.ok) return bare
  // Both have a reason. That of the typed text counts, because the person sees this text. But when that is `invisible`, the bare text has
  // nothing invisible any more, and is no address either: its reason says what else is wrong.
  return typed.reason === 'invisible' ? bare : typed
}

/**
 * Makes wide letters narrow, and removes what is certainly not part of an address: a display name, `mailto:`, invisible characters, and
 * punctuation around it.
 */
function toBareAddress(text: string): string {
  // U+FF01 to U+FF5E are the printable ASCII characters in full width, as keyboards of East Asia type them.
  const narrow = text.replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
  const visible = narrow.replace(INVISIBLE, '')
  // A display name: RFC 5322 section 3.4. The scheme and the fields of a URL: RFC 6068 section 2.
  const inner = /^[^<>]*<([^<>]*)>\s*$/.exec(visible)?.[1] ?? visible
  const address = /^\s*mailto:([^?]*)/i.exec(inner)?.[1] ?? inner
  return address.replace(PUNCTUATION_AROUND, '')
}

/** Quotes, brackets and white space at both ends, and at the end what closes a sentence. */
const PUNCTUATION_AROUND = /^[\s"“”„«»‘’([<]+|[\s"“”„«»‘’)\]>.,;:!?、。]+$/g

/**
 * Converts the domain of an address to its `xn--` form: NFC, then UTS #46 as in the URL standard (section 3.3, domain to ASCII).
 * A domain that is ASCII already, longer than an address or cannot be converted stays; the address rule then decides.
 */
export function toAsciiDomain(text: string): string {
  const start = text.lastIndexOf('@') + 1
  const typed = text.slice(start).trim()
  // Both steps take time quadratic in the length.
  if (start === 0 || typed.length > MAX_ADDRESS_LENGTH || !NON_ASCII.test(text.slice(start))) return text
  const domain = typed.normalize('NFC')
  if (!HOST.test(domain)) return text
  try {
    return text.slice(0, start) + new URL(`http://${domain}`).hostname
  } catch {
    return text
  }
}

// Other ASCII characters mean something to the URL parser: it would cut off a path and decode `%41`.
const HOST = /^[A-Za-z0-9.\-\x80-\uffff]+$/
