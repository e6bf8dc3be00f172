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

/** A longer text is not a cell with addresses. */
const MAX_CELL = 100_000

/** A field of a mail: RFC 5322 section 2.2. The address in it may be that of a message or a server. */
const MAIL_FIELD = /^\s*[\w-]+:(?!:)/

/** Parses the addresses of a cell: all of them are returned, or none. */
export function parseOwnerAddresses(text: string): Result<readonly Address[], string> {
  const one = parseOwnerAddress(text)
  if (one.ok && one.value.length === text.length) return { ok: true, value: [one.value] }
  if (!/@|%40/.test(text) || text.length > MAX_CELL) return one.ok ? { ok: true, value: [one.value] } : one
  const bare = toBareText(text)
  if (MAIL_FIELD.test(bare)) return { ok: false, reason: 'it is a line of a mail, and no address' }
  const found = parseList(bare) ?? parseRecipients(bare)
  if (found) return { ok: true, value: found.filter((address, index) => found.findIndex(isSame(address)) === index) }
  const isOne = bare.indexOf('@') === bare.lastIndexOf('@')
  return one.ok || !isOne ? { ok: false, reason: REASONS.several } : one
}

const isSame = (one: Address) => (other: Address) => toIdentity(one) === toIdentity(other)

/** Removes what programs put around an address: formulas of a spreadsheet, links of Markdown and HTML, `mailto:`, comments. */
function toBareText(text: string): string {
  return text
    .replace(/^\s*=\s*(?:HYPERLINK\s*\(\s*)?"([^"]*)".*$/is, '$1')
    .replace(/<a\s[^>]*?href=["']?([^"'>\s]+)[^>]*>[^<]*<\/a>/gi, '$1')
    .replace(/\[[^\][]*\]\(\s*([^()\s]+)\s*\)/g, '$1')
    .replace(/\bmailto:([^\s?,;<>"'()[\]]+)(?:\?[^\s,;<>"'()[\]]*)?/gi, (_, address: string) => decode(address))
    .replace(/\([^()@]*\)/g, ' ')
}

/** Decodes the percent-encoding of a `mailto:` URL (RFC 6068 section 2). */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** What is between addresses, the surest first: a name may have a comma, and spaces. */
const SEPARATORS = [/[;\r\n]|:::|\s[/|&]\s/, /,/, /\s+/]

/** Parses addresses, or finds a part that is none. */
function parseList(text: string, separators: readonly RegExp[] = SEPARATORS): readonly Address[] | undefined {
  const one = parseOwnerAddress(text)
  // Another address may be in the display name. Some programs write the same address there.
  const isOther = (word: Result<Address, string>) => word.ok && one.ok && !isSame(one.value)(word.value)
  if (
    one.ok &&
    !text
      .split(/[\s,;<>"()]+/)
      .map(parseOwnerAddress)
      .some(isOther)
  )
    return [one.value]
  const [separator, ...others] = separators
  if (!separator) return undefined
  const lists = text
    .split(separator)
    .filter((part) => part.trim() !== '')
    .map((part) => parseList(part, others))
  return lists.every((list) => list !== undefined) ? lists.flat() : undefined
}

/** Parses `Last, First <a@b>, Last, First <c@d>`: each address is in brackets, and there is none outside of them. */
function parseRecipients(text: string): readonly Address[] | undefined {
  const inner = [...text.matchAll(/<([^<>]*)>/g)].map(([, address]) => parseOwnerAddress(address))
  if (text.replace(/<[^<>]*>/g, '').includes('@')) return undefined
  return inner.every(({ ok }) => ok) ? inner.flatMap((parsed) => (parsed.ok ? parsed.value : [])) : undefined
}
