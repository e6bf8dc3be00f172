/** Addresses in a file or on the command line. */

import { type Address, type AddressReason, type Result, toIdentity } from '../../email.ts'
import { parseTypedAddress } from '../../typed-address.ts'

const REASONS: Readonly<Record<AddressReason, string>> = {
  missing: 'there is no address',
  not_a_string: 'the address is not text',
  empty: 'there is no address',
  too_long: 'the address is too long',
  display_name: 'the address has a display name',
  several: 'there is more than one address',
  invisible: 'the address has an invisible character',
  non_ascii_domain: 'the domain cannot be converted to ASCII',
  non_ascii: 'the address has characters that are not printable ASCII',
  malformed: 'the address is not valid',
}

/** Parses an address that the owner gives. An error says to the owner why it is invalid. */
export function parseOwnerAddress(value: unknown): Result<Address, string> {
  const parsed = parseTypedAddress(value)
  return parsed.ok ? parsed : { ok: false, reason: REASONS[parsed.reason] }
}

/** Parses one address or several: all of them are returned, or none. */
export function parseOwnerAddresses(text: string): Result<readonly Address[], string> {
  const one = parseOwnerAddress(text)
  if (text.indexOf('@') === text.lastIndexOf('@')) return one.ok ? { ok: true, value: [one.value] } : one
  // The first separators allow spaces in a display name.
  const several = parseParts(text, /[,;\r\n]+/) ?? (one.ok ? undefined : parseParts(text, /[,;\s]+/))
  if (several) return { ok: true, value: several }
  if (!one.ok) return one
  // Otherwise another address is part of a display name. Some programs write the same address there.
  const others = text.split(/[\s,;<>"()]+/).map(parseOwnerAddress)
  const isOnly = others.every((other) => !other.ok || toIdentity(other.value) === toIdentity(one.value))
  return isOnly ? { ok: true, value: [one.value] } : { ok: false, reason: REASONS.several }
}

/** Parses the parts of a text; undefined when there is one part only, or one that is not an address. */
function parseParts(text: string, separator: RegExp): readonly Address[] | undefined {
  const parts = text.split(separator).filter((part) => part.trim() !== '')
  const addresses = parts.map(parseOwnerAddress).flatMap((parsed) => (parsed.ok ? parsed.value : []))
  return parts.length > 1 && addresses.length === parts.length ? addresses : undefined
}
