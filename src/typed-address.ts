/** Addresses as people type and paste them, for the page and the import. Pure; also runs in browsers. */

import type { Address, AddressReason } from './email.ts'
import type { Result } from './failure.ts'
import { parseUnicodeAddress } from './idn.ts'
import { MAX_EXPLAINED_LENGTH } from './limits.ts'

/**
 * Parses an address. First removes what is certainly not part of it: a display name, `mailto:`, invisible characters, and
 * punctuation around it. Converts full-width characters, and a domain outside ASCII.
 *
 * @returns the address, or why the value as it was given is not one
 */
export function parseTypedAddress(value: unknown): Result<Address, AddressReason> {
  const parsed = parseUnicodeAddress(value)
  // Most addresses have nothing to remove.
  if (parsed.ok || typeof value !== 'string' || value.length > MAX_EXPLAINED_LENGTH) return parsed
  const bare = parseUnicodeAddress(toBareAddress(value))
  return bare.ok ? bare : parsed
}

function toBareAddress(text: string): string {
  const visible = toHalfWidth(text.replace(INVISIBLE, ''))
  // A display name: RFC 5322 section 3.4. The scheme and the fields of a URL: RFC 6068 section 2.
  const inner = /^[^<>]*<([^<>]*)>\s*$/.exec(visible)?.[1] ?? visible
  const address = /^\s*mailto:([^?]*)/i.exec(inner)?.[1] ?? inner
  return trimPunctuation(address)
}

/** The soft hyphen, zero-width characters, marks of direction, and the byte order mark. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g

/** Converts U+FF01 to U+FF5E, the printable ASCII characters in full width, as keyboards of East Asia type them. */
function toHalfWidth(text: string): string {
  if (!FULL_WIDTH.test(text)) return text
  // A function that replaces each character would take ten times as long.
  const codes = Array.from({ length: text.length }, (_, index) => {
    const code = text.charCodeAt(index)
    return code >= 0xff01 && code <= 0xff5e ? code - 0xfee0 : code
  })
  return String.fromCharCode(...codes)
}

const FULL_WIDTH = /[\uff01-\uff5e]/

/** Character by character: an expression that ends with `$` tries every start again. */
function trimPunctuation(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && PUNCTUATION_BEFORE.test(text.charAt(start))) start++
  while (end > start && PUNCTUATION_AFTER.test(text.charAt(end - 1))) end--
  return text.slice(start, end)
}

const PUNCTUATION_BEFORE = /[\s"“”„«‘’([<]/
const PUNCTUATION_AFTER = /[\s"“”„«»‘’)\]>.,;:!?、。]/
