/** Addresses as people type and paste them, for the page and the import. Pure; also runs in browsers. */

import { type Address, type AddressReason, INVISIBLE, NON_ASCII, parseAddress, type Result } from './email.ts'
import { MAX_ADDRESS_LENGTH, MAX_EXPLAINED_LENGTH } from './limits.ts'

/**
 * Parses an address as it is, or else what `toBareAddress` leaves of it.
 *
 * @returns the address, or why the value is not one
 */
export function parseTypedAddress(value: unknown): Result<Address, AddressReason> {
  const parsed = parseUnicodeAddress(value)
  if (parsed.ok || typeof value !== 'string' || value.length > MAX_EXPLAINED_LENGTH) return parsed
  const bare = parseUnicodeAddress(toBareAddress(value))
  // What is invisible is gone now, so that it is no reason for the rest.
  return bare.ok || parsed.reason === 'invisible' ? bare : parsed
}

/** Removes what is certainly not part of an address: a display name, `mailto:`, invisible characters, and punctuation around it. */
function toBareAddress(text: string): string {
  // U+FF01 to U+FF5E are the printable ASCII characters in full width, as keyboards of East Asia type them.
  const narrow = text.replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
  const visible = narrow.replace(INVISIBLE, '')
  // A display name: RFC 5322 section 3.4. The scheme and the fields of a URL: RFC 6068 section 2.
  const inner = /^[^<>]*<([^<>]*)>\s*$/.exec(visible)?.[1] ?? visible
  const address = /^\s*mailto:([^?]*)/i.exec(inner)?.[1] ?? inner
  return address.replace(/^[\s"“”„«‘’([<]+|[\s"“”„«»‘’)\]>.,;:!?、。]+$/g, '')
}

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
 * @returns the text unchanged if its domain is ASCII already, is longer than an address or cannot be converted; the
 * address rule then decides
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
