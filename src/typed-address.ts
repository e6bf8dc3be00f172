/** Addresses as people type and paste them, for the page and the import. Pure; also runs in browsers. */

import { type Address, type AddressReason, INVISIBLE, NON_ASCII, parseAddress, type Result } from './email.ts'
import { MAX_ADDRESS_LENGTH, MAX_EXPLAINED_LENGTH, MAX_LABEL_LENGTH } from './limits.ts'

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
  // What is invisible is gone now, so that it is no reason for the rest.
  return bare.ok || parsed.reason === 'invisible' ? bare : parsed
}

function toBareAddress(text: string): string {
  const visible = toHalfWidth(text.replace(INVISIBLE, ''))
  // A display name: RFC 5322 section 3.4. The scheme and the fields of a URL: RFC 6068 section 2.
  const inner = /^[^<>]*<([^<>]*)>\s*$/.exec(visible)?.[1] ?? visible
  const address = /^\s*mailto:([^?]*)/i.exec(inner)?.[1] ?? inner
  return trimPunctuation(address)
}

/** Converts U+FF01 to U+FF5E, the printable ASCII characters in full width, as keyboards of East Asia type them. */
function toHalfWidth(text: string): string {
  return text.replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
}

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

/**
 * Parses an address whose domain may be outside ASCII.
 *
 * @returns the address in ASCII, or why the value is not an address: `non_ascii_domain` for every domain outside ASCII
 * that has no valid ASCII form
 */
export function parseUnicodeAddress(value: unknown): Result<Address, AddressReason> {
  const parsed = parseAddress(value)
  if (parsed.ok || parsed.reason !== 'non_ascii_domain' || typeof value !== 'string') return parsed
  const converted = parseAddress(toAsciiDomain(value))
  return converted.ok ? converted : parsed
}

/**
 * Converts the domain of an address to its `xn--` form: NFC, then UTS #46 as in the URL standard (section 3.3,
 * domain to ASCII).
 *
 * @returns the text unchanged if its domain is ASCII already, is longer than an address, has a label of more than
 * MAX_LABEL_LENGTH UTF-16 code units or cannot be converted; the address rule then decides
 */
export function toAsciiDomain(text: string): string {
  const start = text.lastIndexOf('@') + 1
  const typed = text.slice(start)
  const trimmed = typed.trim()
  // NFC takes time quadratic in the number of combining marks, and UTS #46 in the number of letters in a label.
  if (start === 0 || trimmed.length > MAX_ADDRESS_LENGTH || !NON_ASCII.test(typed)) return text
  if (LONG_LABEL.test(trimmed)) return text
  const domain = trimmed.normalize('NFC')
  if (!HOST.test(domain)) return text
  try {
    return text.slice(0, start) + new URL(`http://${domain}`).hostname
  } catch {
    return text
  }
}

// The dots are those of UTS #46 section 2.3.
const LONG_LABEL = new RegExp(`[^.\\u3002\\uff0e\\uff61]{${MAX_LABEL_LENGTH + 1}}`)

// Other ASCII characters mean something to the URL parser: it would cut off a path and decode `%41`.
const HOST = /^[A-Za-z0-9.\-\x80-\uffff]+$/
