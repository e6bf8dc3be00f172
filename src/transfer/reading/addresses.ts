/** Addresses in a file or on the command line. */

import { type Address, type AddressReason, parseTypedAddress, type Result, toIdentity } from '../../email.ts'

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
  const whole = parseOwnerAddress(text)
  const isPlain = whole.ok && whole.value.length === text.length
  if (isPlain || !/@|%40/.test(text) || text.length > MAX_CELL) {
    return whole.ok ? { ok: true, value: [whole.value] } : whole
  }
  const bare = toBareText(text)
  if (MAIL_FIELD.test(bare)) return { ok: false, reason: 'it is a line of a mail, and no address' }
  const one = parseOwnerAddress(bare)
  const words = splitList(bare)
  const found = words.map(parseOwnerAddress).flatMap((parsed) => (parsed.ok ? parsed.value : []))
  // The first spelling counts, as in the list.
  const people = [...Map.groupBy(found, toIdentity).values()].flatMap(([first]) => first ?? [])
  // The display name may have the same address.
  if (one.ok && people.length <= 1) return { ok: true, value: [one.value] }
  if (people.length > 0 && found.length === words.length) return { ok: true, value: people }
  const isOne = bare.indexOf('@') === bare.lastIndexOf('@')
  return one.ok || !isOne ? { ok: false, reason: REASONS.several } : one
}

/** Splits a list of addresses. One in brackets may have a name before it, such as `Last, First <a@b>`. */
function splitList(text: string): readonly string[] {
  const parts = text.split(/[<>]/)
  const withoutNames = parts.map((part, index) => {
    if (index % 2 === 1) return part
    if (!part.includes('@')) return ''
    // After an address, the name of the next one begins behind a separator.
    return index < parts.length - 1 ? part.replace(/(@[^@,;，；、\r\n]*[,;，；、\r\n])[^@]*$/, '$1') : part
  })
  const words = withoutNames.join(' ').split(/\s[/|&]\s|:::|[\s,;，；、]/)
  return words.filter((word) => word !== '')
}

/** Removes what programs put around an address: formulas of a spreadsheet, links of Markdown, `mailto:`, comments. */
function toBareText(text: string): string {
  return text
    .replace(/^\s*=\s*(?:HYPERLINK\s*\(\s*)?"([^"]*)".*$/is, '$1')
    .replace(/\[[^\][]*\]\(\s*([^()\s]+)(?:\s+"[^"()]*")?\s*\)/g, '$1')
    .replace(/\bmailto:([^\s?,;<>"'()[\]]+)(?:\?[^\s,;<>"'()[\]]*)?/gi, (_, address: string) => decode(address))
    .replace(/\([^()@]*\)/g, ' ')
}

/** Decodes the percent-encoding of a `mailto:` URL: RFC 6068 section 2. Addresses are ASCII. */
const decode = (text: string) => text.replace(/%[2-7][\da-f]/gi, decodeURIComponent)
