/**
 * What a valid address is, in one place: the endpoint, the page, the import and the published contract
 * all take it from here. Pure; knows nothing of HTTP or of stores.
 */

import { MAX_ADDRESS_LENGTH, MAX_LOCAL_PART_LENGTH } from './limits.ts'
import type { Result } from './result.ts'

/** An address that passed the rule, trimmed, in the spelling it was given in. */
export type Address = string & { readonly address: unique symbol }

/** Why a value is no address; each has a hint of its own in errors.ts. */
export type AddressReason =
  | 'missing'
  | 'not_a_string'
  | 'empty'
  | 'too_long'
  | 'display_name'
  | 'several'
  | 'non_ascii_domain'
  | 'non_ascii'
  | 'malformed'

// The backslashes are for the `v` flag, under which browsers compile the pattern attribute of HTML.
// atext of RFC 5322 section 3.2.3, the alphabet of a dot-atom.
const ATEXT = "[A-Za-z0-9!#$%&'*+\\/=?^_`\\{\\|\\}~\\-]"
// An LDH label: RFC 1123 section 2.1, RFC 5890 section 2.3.1.
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?'

/**
 * The rule as an ECMA-262 pattern, published in the contract; it is matched against the trimmed value.
 *
 * A dot-atom of at most 64 characters (RFC 5321 section 4.5.3.1.1), `@`, and at least two LDH labels of
 * at most 63, the last of which is not all digits (it would be an IPv4 address: RFC 3696 section 2).
 */
export const ADDRESS_PATTERN =
  `^(?=.{3,${MAX_ADDRESS_LENGTH}}$)(?=[^@]{1,${MAX_LOCAL_PART_LENGTH}}@)` +
  `${ATEXT}+(?:\\.${ATEXT}+)*@(?:${LABEL}\\.)+(?![0-9]+$)${LABEL}$`

const RULE = new RegExp(ADDRESS_PATTERN)

/**
 * Holds a value against the rule.
 *
 * @param value anything, as it came from outside; a string is trimmed first (ECMA-262 white space)
 * @returns the trimmed address, or the fault that keeps it from being one
 */
export function parseAddress(value: unknown): Result<Address, AddressReason> {
  if (typeof value !== 'string')
    return { ok: false, reason: value === undefined ? 'missing' : 'not_a_string' }
  const text = value.trim()
  return RULE.test(text) ? { ok: true, value: text as Address } : { ok: false, reason: toReason(text) }
}

/**
 * The identity of an address, by which the list is a set: the whole of it in ASCII lower case.
 * Tags (`+x`) and dots are kept: whose mailbox they lead to is for the receiving host to say (RFC 5321 section 2.3.11).
 */
export function toIdentity(address: Address): string {
  // An address is ASCII by the rule, so this folds A to Z and nothing else.
  return address.toLowerCase()
}

/** Whether an address lies in a domain that is reserved for tests and examples (RFC 2606, RFC 6761). */
export function isReserved(address: Address): boolean {
  const identity = toIdentity(address)
  return RESERVED.test(identity.slice(identity.lastIndexOf('@') + 1))
}

/** The reserved domains, as a rule for machines and as words for people, subdomains included. */
export const RESERVED_DOMAINS = [
  'example.com',
  'example.org',
  'example.net',
  'example',
  'test',
  'invalid',
  'localhost',
] as const

const RESERVED = new RegExp(`(?:^|\\.)(?:${RESERVED_DOMAINS.join('|').replaceAll('.', '\\.')})$`)

/** Finds the one thing that its sender can mend, in linear time; called only for what the rule refused. */
function toReason(text: string): AddressReason {
  if (text === '') return 'empty'
  if (holdsSeveral(text, /[,;\r\n]/)) return 'several'
  // Before blanks are looked at: some programs write `a@example.org <a@example.org>`.
  if (/<[^<>@]*@[^<>@]*>$/.test(text)) return 'display_name'
  if (holdsSeveral(text, /\s/)) return 'several'
  if (text.length > MAX_ADDRESS_LENGTH || text.indexOf('@') > MAX_LOCAL_PART_LENGTH) return 'too_long'
  if (isPrintableAscii(text)) return 'malformed'
  const at = text.lastIndexOf('@')
  return at > 0 && isPrintableAscii(text.slice(0, at)) && /[^\0-\x7f]/.test(text.slice(at))
    ? 'non_ascii_domain'
    : 'non_ascii'
}

function holdsSeveral(text: string, separator: RegExp): boolean {
  return text.split(separator).filter((part) => part.includes('@')).length > 1
}

function isPrintableAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text)
}
