/** Addresses as they stand in a file or on the command line. */

import type { Address, AddressReason } from '../../email.ts'
import { parseUnicodeAddress } from '../../idn.ts'
import type { Result } from '../../result.ts'

const REASONS: Readonly<Record<AddressReason, string>> = {
  missing: 'there is no address',
  not_a_string: 'the address is not text',
  empty: 'there is no address',
  too_long: 'the address is too long',
  display_name: 'the address comes with a display name',
  several: 'there is more than one address',
  non_ascii_domain: 'the domain cannot be converted to ASCII',
  non_ascii: 'the address has characters that are not printable ASCII',
  malformed: 'the address is not valid',
}

/**
 * Parses an address that the owner has: the address rule, after a display name, the angle brackets and `mailto:` are
 * removed, and after a domain outside ASCII is converted.
 *
 * @returns the address, or for the owner why it is invalid
 */
export function parseOwnerAddress(value: unknown): Result<Address, string> {
  const parsed = parseUnicodeAddress(value)
  // Most addresses have nothing to remove.
  if (parsed.ok) return parsed
  const bare = typeof value === 'string' ? parseUnicodeAddress(toBareAddress(value)) : parsed
  return bare.ok ? bare : { ok: false, reason: REASONS[parsed.reason] }
}

/** Removes a display name (RFC 5322 section 3.4) and the scheme and fields of a `mailto` URL (RFC 6068 section 2). */
function toBareAddress(text: string): string {
  const address = /^[^<>]*<([^<>]*)>\s*$/.exec(text)?.[1] ?? text
  return /^\s*mailto:([^?]*)/i.exec(address)?.[1] ?? address
}
