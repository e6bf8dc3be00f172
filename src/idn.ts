/** Converts internationalized domains to ASCII, for input from people: the form and the import. Pure; also runs in browsers. */

import { type Address, type AddressReason, NON_ASCII, parseAddress } from './email.ts'
import type { Result } from './failure.ts'
import { MAX_ADDRESS_LENGTH, MAX_LABEL_LENGTH } from './limits.ts'

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
