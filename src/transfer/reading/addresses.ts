/** Addresses as they stand in a file or on the command line. */

import type { Address, AddressReason } from '../../email.ts'
import type { Result } from '../../result.ts'
import { parseTypedAddress } from '../../typed-address.ts'

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

/** Parses an address that the owner has. Returns for the owner why it is invalid. */
export function parseOwnerAddress(value: unknown): Result<Address, string> {
  const parsed = parseTypedAddress(value)
  return parsed.ok ? parsed : { ok: false, reason: REASONS[parsed.reason] }
}
