/** Addresses for tests: a table of valid and invalid ones, generated ones, and texts that are slow for a bad rule. */

import fc from 'fast-check'
import { ADDRESS_PATTERN, type AddressReason, parseAddress } from '../src/email.ts'
import { MAX_ADDRESS_LENGTH } from '../src/limits.ts'

/** An untrusted value, and the result of parseAddress: an address or a reason. */
export type Vector = { readonly input: unknown; readonly why: string } & (
  | { readonly address: string; readonly reason?: never }
  | { readonly reason: AddressReason; readonly address?: never }
)

const good = (input: string, why: string, address = input): Vector => ({ input, address, why })
const bad = (input: unknown, reason: AddressReason, why: string): Vector => ({ input, reason, why })

const L63 = 'd'.repeat(63)
const L64 = 'd'.repeat(64)
const LOCAL_64 = 'l'.repeat(64)
// 64 + 1 + (63 + 1) * 2 + 57 + 4 = 254, the maximum.
const LONGEST = `${LOCAL_64}@${L63}.${L63}.${'d'.repeat(57)}.org`
const ONE_MORE = `${LOCAL_64}@${L63}.${L63}.${'d'.repeat(58)}.org`

const PLAIN: readonly Vector[] = [
  good('name@example.org', 'the plain form: RFC 5321 section 4.1.2'),
  good('a@b.co', 'the shortest; there is no list of TLDs, RFC 3696 section 2'),
  good('first.last@example.org', 'dot-atom: RFC 5322 section 3.2.3'),
  good('name+tag@example.org', 'a tag is atext, and kept'),
  good("!#$%&'*+-/=?^_`{|}~@example.org", 'all symbols of atext: RFC 5322 section 3.2.3'),
  good('Name@Example.ORG', 'upper case is kept in the first spelling'),
]

const NOT_ATEXT: readonly Vector[] = [...'"(),:;<>[]\\ '].map((character) =>
  bad(`a${character}b@example.org`, 'malformed', `${character} is not atext`),
)

const DOTS: readonly Vector[] = [
  bad('.name@example.org', 'malformed', 'dot at the start: RFC 5321 section 4.1.2, Dot-string'),
  bad('name.@example.org', 'malformed', 'dot at the end of the local part'),
  bad('na..me@example.org', 'malformed', 'doubled dot in the local part'),
  bad('name@.example.org', 'malformed', 'dot at the start of the domain'),
  bad('name@example..org', 'malformed', 'doubled dot in the domain: an empty label'),
  bad('name@example.org.', 'malformed', 'trailing dot: not allowed by RFC 5321 section 4.1.2'),
]

const LENGTHS: readonly Vector[] = [
  good(`${LOCAL_64}@example.org`, 'local part of 64: RFC 5321 section 4.5.3.1.1'),
  bad(`${LOCAL_64}l@example.org`, 'too_long', 'local part of 65: RFC 5321 section 4.5.3.1.1'),
  good(`name@${L63}.org`, 'label of 63: RFC 1035 section 2.3.4'),
  bad(`name@${L64}.org`, 'malformed', 'label of 64: RFC 1035 section 2.3.4'),
  good(LONGEST, 'total of 254: RFC 5321 section 4.5.3.1.3, less the angle brackets'),
  bad(ONE_MORE, 'too_long', 'total of 255'),
  good(` ${LONGEST}\n`, 'total of 256 before trimming, 254 after', LONGEST),
  bad('x'.repeat(255), 'too_long', 'not an address, and too long: the length is the reason'),
]

const LABELS: readonly Vector[] = [
  bad('name@localhost', 'malformed', 'one label only'),
  bad('name@-example.org', 'malformed', 'hyphen at the start of a label: RFC 1123 section 2.1'),
  bad('name@example-.org', 'malformed', 'hyphen at the end of a label: RFC 1123 section 2.1'),
  good('name@ex--ample.org', 'hyphens inside a label are LDH, although RFC 5891 reserves two'),
  good('name@1.2.org', 'labels of digits alone, but not the last: RFC 1123 section 2.1'),
  bad('name@example.123', 'malformed', 'last label all digits: RFC 3696 section 2'),
  bad('name@example.1-2', 'malformed', 'last label begins with a digit'),
  bad('name@example.1a', 'malformed', 'last label begins with a digit'),
  bad('name@gmail.c', 'malformed', 'last label of one character'),
  bad('name@example.c-', 'malformed', 'last label ends with a hyphen'),
  good('name@gmail.com1', 'last label with a digit at its end; the page asks'),
  good(`name@example.${'d'.repeat(63)}`, 'last label of 63'),
  bad(`name@example.${'d'.repeat(64)}`, 'malformed', 'last label of 64'),
  good('name@xn--bcher-kva.xn--p1ai', 'A-labels: RFC 5890 section 2.3.2.1'),
  bad('name@ex_ample.org', 'malformed', 'underscore is not LDH: RFC 1123 section 2.1'),
]

const LITERALS: readonly Vector[] = [
  bad('name@192.0.2.1', 'malformed', 'IPv4 address without brackets: the last label is all digits'),
  bad('name@[192.0.2.1]', 'malformed', 'IPv4 literal: RFC 5321 section 4.1.3, refused by the rule'),
  bad('"first last"@example.org', 'malformed', 'Quoted-string: RFC 5321 section 4.1.2, refused by the rule'),
]

const NOT_ASCII: readonly Vector[] = [
  bad('jürgen@example.org', 'non_ascii', 'SMTPUTF8 local part: RFC 6531, refused by the rule'),
  bad('name@bücher.example', 'non_ascii_domain', 'U-label: the sender must use its A-label, RFC 5891 section 4'),
  bad('name@example\u3002org', 'non_ascii_domain', 'ideographic full stop U+3002: UTS #46 maps it'),
  bad('name\uFF20example.org', 'non_ascii', 'fullwidth @ U+FF20'),
  bad('\u212Aelvin@example.org', 'non_ascii', 'Kelvin sign U+212A, which becomes k in lower case'),
  bad('mi\u017Fs@example.org', 'non_ascii', 'long s U+017F, which becomes S in upper case'),
  bad('na\uD800me@example.org', 'non_ascii', 'lone high surrogate: not Unicode'),
]

const CONTROLS: readonly Vector[] = [
  bad('\0name@example.org', 'non_ascii', 'NUL at the start: not white space, so it is not trimmed'),
  bad('na\x7Fme@example.org', 'non_ascii', 'delete: ASCII, but not printable'),
  bad('name@example.org\u0085', 'non_ascii_domain', 'NEL U+0085 at the end: not white space in ECMA-262'),
  bad('name@example.org\nx', 'non_ascii', 'the rule ends at the end of the text, not of the line'),
  bad('x\nname@example.org', 'non_ascii', 'the rule starts at the start of the text, not of the line'),
  bad('name@example.org\r\nSubject: hello', 'non_ascii', 'CRLF header injection'),
  bad('name@example.org\r\nBcc: other@example.org', 'several', 'CRLF header injection of an address'),
]

const WHITE_SPACE = ' \t\n\v\f\r\u00A0\u1680\u2000\u2028\u2029\u3000\uFEFF'
const BLANKS: readonly Vector[] = [
  good(`${WHITE_SPACE}Name@example.org${WHITE_SPACE}`, 'white space of all kinds is trimmed', 'Name@example.org'),
  bad('na\u00A0me@example.org', 'non_ascii', 'NBSP inside'),
  bad('\u200Bname@example.org', 'invisible', 'zero-width space at the start: a format character, so it is not trimmed'),
  bad('name@exam\u200Bple.org', 'invisible', 'zero-width space in the domain: an xn-- form would be another domain'),
  bad('name@example.org\u00AD', 'invisible', 'soft hyphen at the end'),
  bad('\u202Ename@example.org\u202C', 'invisible', 'right-to-left override'),
  bad('name @example.org', 'malformed', 'space before the @: obs-local-part, refused by the rule'),
]

const AT_SIGNS: readonly Vector[] = [
  bad('name', 'malformed', 'no @'),
  bad('@example.org', 'malformed', 'no local part'),
  bad('name@', 'malformed', 'no domain'),
  bad('name@@example.org', 'malformed', 'doubled @'),
  bad('@relay.example,@other.example:name@example.org', 'several', 'source route: RFC 5321 appendix C'),
]

const AROUND: readonly Vector[] = [
  bad('name(comment)@example.org', 'malformed', 'comment: in RFC 5322 section 3.2.2, but not in RFC 5321'),
  bad('Name <name@example.org>', 'display_name', 'name-addr: RFC 5322 section 3.4'),
  bad('"Last, First" <name@example.org>', 'display_name', 'quoted display name with a comma'),
  bad('Jürgen <name@example.org>', 'display_name', 'non-ASCII display name: the display name is the reason'),
  bad(' <name@example.org> ', 'display_name', 'angle brackets: part of the SMTP command, not of the address'),
  bad('<name@example.org', 'malformed', 'only an opening angle bracket'),
  bad('mailto:name@example.org', 'malformed', 'mailto URL: RFC 6068'),
  bad('name@example.org,', 'malformed', 'trailing comma after one address'),
]

const SEVERAL: readonly Vector[] = [
  bad('a@example.org, b@example.org', 'several', 'two, separated by a comma and a space'),
  bad('a@example.org;b@example.org', 'several', 'two, separated by a semicolon'),
  bad('a@example.org and b@example.org', 'several', 'two, separated by a word'),
  bad('A <a@example.org>, B <b@example.org>', 'several', 'two with display names: the number is the reason'),
  bad(Array(30).fill('a@example.org').join(','), 'several', 'many, and too long: the number is the reason'),
]

const NO_TEXT: readonly Vector[] = [
  bad(WHITE_SPACE, 'empty', 'only white space, of all kinds'),
  bad(undefined, 'missing', 'the member is missing'),
  bad(null, 'not_a_string', 'null'),
  bad(['name@example.org'], 'not_a_string', 'array of one address, which converts to that address'),
  bad({ toString: () => 'name@example.org' }, 'not_a_string', 'object that converts to an address'),
]

export const VECTORS: readonly Vector[] = [
  ...[PLAIN, NOT_ATEXT, DOTS, LENGTHS, LABELS, LITERALS].flat(),
  ...[NOT_ASCII, CONTROLS, BLANKS, AT_SIGNS, AROUND, SEVERAL, NO_TEXT].flat(),
]

/** Whether a text matches the rule of the design. It does not use the pattern, so that tests can compare the two. */
export function matchesRule(text: string): boolean {
  const parts = text.split('@')
  const [local = '', domain = ''] = parts
  const labels = domain.split('.')
  return (
    parts.length === 2 &&
    text.length <= 254 &&
    local.length <= 64 &&
    local.split('.').every((atom) => atom !== '' && [...atom].every((c) => ATEXT.includes(c))) &&
    labels.length >= 2 &&
    labels.every(isLabel) &&
    (labels.at(-1) as string).length >= 2 &&
    !DIGITS.includes((labels.at(-1) as string).charAt(0))
  )
}

const DIGITS = '0123456789'
const ALPHANUMERIC = `abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ${DIGITS}`
const ATEXT = `${ALPHANUMERIC}!#$%&'*+-/=?^_\`{|}~`

function isLabel(label: string): boolean {
  const inside = [...label].every((c) => c === '-' || ALPHANUMERIC.includes(c))
  return label !== '' && label.length <= 63 && inside && !label.startsWith('-') && !label.endsWith('-')
}

/** Addresses from the grammar, up to the maximum length. */
export function addresses(): fc.Arbitrary<string> {
  const atom = fc.string({ unit: fc.constantFrom(...ATEXT), minLength: 1, maxLength: 64 })
  const local = fc.array(atom, { minLength: 1, maxLength: 4 }).map((atoms) => atoms.join('.'))
  const label = fc.string({ unit: fc.constantFrom(...ALPHANUMERIC, '-'), minLength: 1, maxLength: 63 })
  const domain = fc.array(label.filter(isLabel), { minLength: 2, maxLength: 5 })
  return fc
    .tuple(
      local.filter((text) => text.length <= 64),
      domain.filter((labels) => /^[A-Za-z]./.test(labels.at(-1) as string)),
    )
    .map(([before, labels]) => `${before}@${labels.join('.')}`)
    .filter((text) => text.length <= 254)
}

/** Texts of every kind. Most are one character away from an address, where errors are likely. */
export function texts(): fc.Arbitrary<string> {
  const character = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom(...'@@..-_ ,;<>()[]":\\09aZ', '\0', '\n', '\u212A', '\u017F', '\uFEFF', '\uFF41'),
  )
  const broken = fc
    .tuple(addresses(), fc.nat(), fc.nat({ max: 2 }), character)
    .map(([text, position, removed, added]) => {
      const at = position % (text.length + 1)
      return text.slice(0, at) + added + text.slice(at + removed)
    })
  const near = fc.string({ unit: fc.constantFrom('a', '1', '-', '.', '@', ' '), maxLength: 12 })
  return fc.oneof(addresses(), { arbitrary: broken, weight: 4 }, near, fc.string({ unit: 'binary' }), fc.string())
}

/**
 * Builds texts of about a length that are slow for a rule with backtracking. A quadratic rule needs about 10^12 steps for
 * one of 1 MiB, which is minutes; a linear rule needs milliseconds.
 */
export const HOSTILE_TEXTS: Readonly<Record<string, (length: number) => string>> = {
  'one letter': (length) => 'a'.repeat(length),
  'at signs': (length) => '@'.repeat(length),
  'an at sign, then commas': (length) => `@${','.repeat(length)}`,
  'an at sign, then spaces': (length) => `a@${' '.repeat(length)}b`,
  'open addresses': (length) => '<a@b'.repeat(length / 4),
  'a local part without a domain': (length) => `${'a'.repeat(length)}@`,
  labels: (length) => `a@${'a.'.repeat(length / 2)}!`,
  'many addresses': (length) => 'a@b,'.repeat(length / 4),
  'spaces around a letter': (length) => `${' '.repeat(length)}x${' '.repeat(length)}`,
  'an address, then spaces and a letter': (length) => `a@b.org${' '.repeat(length)}x`,
  'spaces, then an address that is too long': (length) => `${' '.repeat(length)}${'a'.repeat(300)}@b.org`,
  'non-ASCII letters': (length) => `a@${'é'.repeat(length)}`,
}

// As a program: prints the name of each hostile text before it parses it.
if (import.meta.main) {
  const length = 2 ** 20
  const patterns = ['u', '', 'v'].map((flags) => new RegExp(ADDRESS_PATTERN, flags))
  for (const [name, build] of Object.entries(HOSTILE_TEXTS)) {
    console.log(name)
    parseAddress(build(length))
    for (const text of [build(length), build(MAX_ADDRESS_LENGTH)]) {
      for (const pattern of patterns) pattern.test(text)
    }
  }
}
