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
  const asIs = parseOwnerAddress(text)
  const isOnlyAddress = asIs.ok && asIs.value.length === text.length
  const mayHoldOthers = /@|%40/.test(text) && text.length <= MAX_CELL
  // First, because most cells are an address with nothing around it, and this is fast.
  if (isOnlyAddress || !mayHoldOthers) return toList(asIs)
  const bare = toBareText(text)
  if (MAIL_FIELD.test(bare)) return { ok: false, reason: 'it is a line of a mail, and no address' }
  return parseBareText(bare)
}

/** Parses what `toBareText` leaves of a cell. The order counts: from one person over a list to a text that is neither. */
function parseBareText(text: string): Result<readonly Address[], string> {
  const one = parseOwnerAddress(text)
  const words = splitList(text)
  const found = words.map(parseOwnerAddress).flatMap((parsed) => (parsed.ok ? parsed.value : []))
  const people = toPeople(found)
  // `Ann <ann@example.org>`, and also `ANN@example.org <ann@example.org>`, where the display name is the same address.
  if (one.ok && people.length <= 1) return toList(one)
  // `ann@example.org; bob@example.org`: nothing but addresses.
  const isList = people.length > 0 && found.length === words.length
  if (isList) return { ok: true, value: people }
  // `ann@example.org not bob@example.org`: words between addresses may say which of them counts. So none is taken.
  const hasSeveral = one.ok || text.indexOf('@') !== text.lastIndexOf('@')
  if (hasSeveral) return { ok: false, reason: REASONS.several }
  // `ann@example`: one address, and what is wrong with it.
  return one
}

function toList(parsed: Result<Address, string>): Result<readonly Address[], string> {
  return parsed.ok ? { ok: true, value: [parsed.value] } : parsed
}

/** Leaves out addresses of the same person. The first spelling counts, as in the list. */
function toPeople(addresses: readonly Address[]): readonly Address[] {
  const spellings = Map.groupBy(addresses, toIdentity)
  return [...spellings.values()].flatMap(([first]) => first ?? [])
}

/** The end of a text before a bracket: from the last `@` to the separator behind its address, and then the name of the next address. */
const NAME_AT_END = /(?<address>@[^@,;，；、\r\n]*[,;，；、\r\n])[^@]*$/

/** Splits a list of addresses. One in brackets may have a name before it, such as `Last, First <a@b>`. */
function splitList(text: string): readonly string[] {
  const parts = text.split(/[<>]/)
  const withoutNames = parts.map((part, index) => {
    // Each second part was in brackets.
    if (index % 2 === 1) return part
    // A name alone.
    if (!part.includes('@')) return ''
    const isLast = index === parts.length - 1
    if (isLast) return part
    // Addresses without brackets before one with them: `ann@a.org, Last, First <` is `ann@a.org,`.
    return part.replace(NAME_AT_END, '$<address>')
  })
  const words = withoutNames.join(' ').split(/\s[/|&]\s|:::|[\s,;，；、]/)
  return words.filter((word) => word !== '')
}

/** A formula of a spreadsheet: `="ann@example.org"` or `=HYPERLINK("mailto:ann@example.org", "Ann")`. Keeps the first text in it. */
const FORMULA = /^\s*=\s*(?:HYPERLINK\s*\(\s*)?"([^"]*)".*$/is

/** A link of Markdown: `[Ann](mailto:ann@example.org)` or `[Ann](mailto:ann@example.org "Her mail")`. Keeps its target. */
const MARKDOWN_LINK = /\[[^\][]*\]\(\s*([^()\s]+)(?:\s+"[^"()]*")?\s*\)/g

/** A URL of a mail, also within a text: `mailto:ann%40example.org?subject=Hello`. Keeps what is before the question mark. */
const MAILTO = /\bmailto:([^\s?,;<>"'()[\]]+)(?:\?[^\s,;<>"'()[\]]*)?/gi

/** A comment, which has no address: `ann@example.org (work)`. */
const COMMENT = /\([^()@]*\)/g

/** Removes what programs put around an address. In this order: a formula or a link may have a `mailto:` in it. */
function toBareText(text: string): string {
  return text
    .replace(FORMULA, '$1')
    .replace(MARKDOWN_LINK, '$1')
    .replace(MAILTO, (_, address: string) => decode(address))
    .replace(COMMENT, ' ')
}

/** Decodes the percent-encoding of a `mailto:` URL: RFC 6068 section 2. Addresses are ASCII. */
const decode = (text: string) => text.replace(/%[2-7][\da-f]/gi, decodeURIComponent)
