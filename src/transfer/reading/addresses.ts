/** Reads an address of an older list: by the one rule, after a domain outside ASCII has been converted. */

import { domainToASCII } from 'node:url'
import { type Address, type AddressFault, parseAddress } from '../../email.ts'

/** The address, or why it is none, in words for whoever mends the file. */
export type ReadAddress = { readonly address: Address } | { readonly reason: string }

const REASONS: Readonly<Record<AddressFault, string>> = {
  missing: 'there is no address',
  not_a_string: 'the address is not a text',
  empty: 'there is no address',
  too_long: 'the address is too long',
  display_name: 'the address comes with a display name',
  several: 'there is more than one address',
  non_ascii_domain: 'the domain cannot be converted to ASCII',
  non_ascii: 'the address has characters that are not printable ASCII',
  malformed: 'the address is not valid',
}

/** Reads an address; a domain outside ASCII is converted as browsers do (NFC, then UTS #46, non-transitional). */
export function readAddress(value: unknown): ReadAddress {
  const parsed = parseAddress(value)
  if ('address' in parsed) return parsed
  const converted =
    parsed.fault === 'non_ascii_domain' && typeof value === 'string' ? parseAddress(toAscii(value)) : parsed
  return 'address' in converted ? converted : { reason: REASONS[parsed.fault] }
}

function toAscii(text: string): string {
  const at = text.lastIndexOf('@')
  const domain = text.slice(at + 1).trim()
  // A URL parser takes `%41` for an A; a domain name does not.
  return domain.includes('%') ? text : `${text.slice(0, at)}@${domainToASCII(domain.normalize('NFC'))}`
}
