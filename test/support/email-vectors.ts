/** The address rule of src/email.ts as a table: valid and invalid addresses, each with an explanation. */

import type { AddressReason } from '../../src/email.ts'

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
  good('a@b.co', 'one-character local part and label'),
  good('a@b.c', 'a TLD of one letter: there is no list of TLDs, RFC 3696 section 2'),
  good('first.last@example.org', 'dot-atom: RFC 5322 section 3.2.3'),
  good('a.b.c.d.e@example.org', 'any number of atoms'),
  good('name+tag@example.org', 'a tag is atext, and kept'),
  good('+@example.org', 'a symbol alone is an atom'),
  good('-@example.org', 'a hyphen at the edge of an atom: atext, not LDH'),
  good('-name-@example.org', 'hyphens at both edges of the local part'),
  good('_@example.org', 'underscore is atext'),
  good('1234567890@example.org', 'digits are atext'),
  good('a.-.b@example.org', 'an atom of one hyphen between dots'),
  good("!#$%&'*+-/=?^_`{|}~@example.org", 'all symbols of atext: RFC 5322 section 3.2.3'),
  good('abcdefghijklmnopqrstuvwxyz@example.org', 'all lower case letters'),
  good('ABCDEFGHIJKLMNOPQRSTUVWXYZ@example.org', 'all upper case letters, kept'),
  good("o'brien@example.org", 'an apostrophe, as in real names'),
  good('user%host@example.org', 'a percent sign is atext'),
  good('bounce/x=y@example.org', 'slash and equals sign are atext'),
  good('xn--abc@example.org', 'xn-- has no meaning in a local part'),
  good('Name@Example.ORG', 'upper case is kept in the first spelling'),
  good('nAmE+TaG@eXaMpLe.oRg', 'mixed case is kept in the first spelling'),
]

const ATEXT: readonly Vector[] = [..."!#$%&'*+-/=?^_`{|}~"].map((symbol) =>
  good(`a${symbol}b@example.org`, `${symbol} is atext: RFC 5322 section 3.2.3`),
)

const NOT_ATEXT: readonly Vector[] = [
  bad('a"b@example.org', 'malformed', 'a quote is not atext'),
  bad('a(b@example.org', 'malformed', 'a parenthesis is not atext'),
  bad('a)b@example.org', 'malformed', 'a parenthesis is not atext'),
  bad('a,b@example.org', 'malformed', 'a comma is not atext'),
  bad('a:b@example.org', 'malformed', 'a colon is not atext'),
  bad('a;b@example.org', 'malformed', 'a semicolon is not atext'),
  bad('a<b@example.org', 'malformed', 'an angle bracket is not atext'),
  bad('a>b@example.org', 'malformed', 'an angle bracket is not atext'),
  bad('a[b@example.org', 'malformed', 'a bracket is not atext'),
  bad('a]b@example.org', 'malformed', 'a bracket is not atext'),
  bad('a\\b@example.org', 'malformed', 'a backslash is not atext'),
  bad('a b@example.org', 'malformed', 'a space is not atext'),
]

const DOTS: readonly Vector[] = [
  bad('.name@example.org', 'malformed', 'dot at the start: RFC 5321 section 4.1.2, Dot-string'),
  bad('name.@example.org', 'malformed', 'dot at the end of the local part'),
  bad('na..me@example.org', 'malformed', 'doubled dot in the local part'),
  bad('.@example.org', 'malformed', 'only a dot'),
  bad('name@.example.org', 'malformed', 'dot at the start of the domain'),
  bad('name@example..org', 'malformed', 'doubled dot in the domain: an empty label'),
  bad('name@example.org.', 'malformed', 'trailing dot: not allowed by RFC 5321 section 4.1.2'),
  bad('name@.', 'malformed', 'a domain that is only a dot'),
]

const LENGTHS: readonly Vector[] = [
  good(`${LOCAL_64}@example.org`, 'local part of 64: RFC 5321 section 4.5.3.1.1'),
  bad(`${LOCAL_64}l@example.org`, 'too_long', 'local part of 65: RFC 5321 section 4.5.3.1.1'),
  good(`${'a.'.repeat(31)}bc@example.org`, 'local part of 64, dots counted'),
  bad(`${'a.'.repeat(32)}b@example.org`, 'too_long', 'local part of 65, dots counted'),
  good(`name@${L63}.org`, 'label of 63: RFC 1035 section 2.3.4'),
  bad(`name@${L64}.org`, 'malformed', 'label of 64: RFC 1035 section 2.3.4'),
  good(`name@example.${L63}`, 'last label of 63'),
  bad(`name@example.${L64}`, 'malformed', 'last label of 64'),
  good(`name@${'a.'.repeat(60)}org`, 'any number of labels'),
  good(LONGEST, 'total of 254: RFC 5321 section 4.5.3.1.3, less the angle brackets'),
  bad(ONE_MORE, 'too_long', 'total of 255'),
  good(` ${LONGEST}\n`, 'total of 256 before trimming, 254 after', LONGEST),
  good(`${' '.repeat(300)}a@b.co${' '.repeat(300)}`, 'white space around the address does not count', 'a@b.co'),
  bad(` ${ONE_MORE} `, 'too_long', 'total of 255 after trimming'),
  bad('x'.repeat(255), 'too_long', 'not an address, and too long: the length is the reason'),
  bad('x'.repeat(254), 'malformed', 'not an address, and not too long'),
]

const LABELS: readonly Vector[] = [
  bad('name@localhost', 'malformed', 'one label only'),
  bad('name@org', 'malformed', 'one label only, though a TLD: RFC 7085 calls them harmful'),
  bad('name@-example.org', 'malformed', 'hyphen at the start of a label: RFC 1123 section 2.1'),
  bad('name@example-.org', 'malformed', 'hyphen at the end of a label: RFC 1123 section 2.1'),
  bad('name@example.-org', 'malformed', 'hyphen at the start of the last label'),
  bad('name@example.org-', 'malformed', 'hyphen at the end of the last label'),
  bad('name@-.org', 'malformed', 'a label that is only a hyphen'),
  good('name@ex-am-ple.org', 'hyphens inside a label'),
  good('name@ex--ample.org', 'two hyphens inside a label are LDH, although RFC 5891 reserves them'),
  good('name@1.2.org', 'labels of digits alone, but not the last: RFC 1123 section 2.1'),
  good('name@163.com', 'a common domain with a label of digits'),
  good('name@0.0.0.0.in-addr.arpa', 'digits in all but the last labels'),
  bad('name@example.123', 'malformed', 'last label all digits: RFC 3696 section 2'),
  bad('name@example.0', 'malformed', 'last label one digit'),
  good('name@example.1a', 'last label begins with a digit but has a letter'),
  good('name@example.a1', 'last label ends with a digit but has a letter'),
  good('name@example.1-2', 'last label of digits and a hyphen is not all digits'),
  good('name@xn--bcher-kva.example', 'A-label: RFC 5890 section 2.3.2.1'),
  good('name@example.xn--p1ai', 'A-label as TLD'),
  good('name@XN--BCHER-KVA.example', 'the prefix of an A-label in any case'),
  good('name@xn--zz-a.example', 'an LDH label, even if it is not Punycode'),
  bad('name@xn--.example', 'malformed', 'only xn--: ends with a hyphen'),
  bad('name@ex_ample.org', 'malformed', 'underscore is not LDH: RFC 1123 section 2.1'),
  bad('name@_dmarc.example.org', 'malformed', 'underscore at the start of a label'),
  bad('name@exam ple.org', 'malformed', 'space inside the domain'),
  bad('name@example.org/path', 'malformed', 'slash in the domain'),
  bad('name@example.org:25', 'malformed', 'port after the domain'),
  bad('name@example!.org', 'malformed', 'atext is for the local part, not for the domain'),
]

const LITERALS: readonly Vector[] = [
  bad('name@192.0.2.1', 'malformed', 'IPv4 address without brackets: the last label is all digits'),
  bad('name@[192.0.2.1]', 'malformed', 'IPv4 literal: RFC 5321 section 4.1.3, refused by the rule'),
  bad('name@[IPv6:2001:db8::1]', 'malformed', 'IPv6 literal: RFC 5321 section 4.1.3, refused by the rule'),
  bad('name@[x-tag:text]', 'malformed', 'general literal: RFC 5321 section 4.1.3, refused by the rule'),
  bad('"name"@example.org', 'malformed', 'Quoted-string: RFC 5321 section 4.1.2, refused by the rule'),
  bad('"first last"@example.org', 'malformed', 'quoted local part with a space'),
  bad('"a@b"@example.org', 'malformed', 'quoted local part with an @'),
  bad('"a\\"b"@example.org', 'malformed', 'quoted local part with an escape'),
  bad('""@example.org', 'malformed', 'empty quoted local part'),
  bad('a."b".c@example.org', 'malformed', 'obs-local-part: RFC 5322 section 4.4'),
]

const NOT_ASCII: readonly Vector[] = [
  bad('jürgen@example.org', 'non_ascii', 'SMTPUTF8 local part: RFC 6531, refused by the rule'),
  bad('名前@example.org', 'non_ascii', 'local part in Han'),
  bad('имя@пример.рф', 'non_ascii', 'local part and domain: an ASCII domain would not be enough'),
  bad('😀@example.org', 'non_ascii', 'emoji, outside the BMP'),
  bad('name@bücher.example', 'non_ascii_domain', 'U-label: the sender must use its A-label, RFC 5891 section 4'),
  bad('name@пример.рф', 'non_ascii_domain', 'only U-labels'),
  bad('name@例え.テスト', 'non_ascii_domain', 'U-labels in Han and Katakana'),
  bad('name@example\u3002org', 'non_ascii_domain', 'ideographic full stop U+3002: UTS #46 maps it'),
  bad('name@\uFF45\uFF58.org', 'non_ascii_domain', 'fullwidth letters in the domain: UTS #46 maps them'),
  bad('\uFF4E\uFF41@example.org', 'non_ascii', 'fullwidth letters in the local part'),
  bad('name\uFF20example.org', 'non_ascii', 'fullwidth @ U+FF20'),
  bad('\u212Aelvin@example.org', 'non_ascii', 'Kelvin sign U+212A, which becomes k in lower case'),
  bad('name@\u212Aelvin.org', 'non_ascii_domain', 'Kelvin sign U+212A in the domain'),
  bad('name@example.u\u212A', 'non_ascii_domain', 'Kelvin sign U+212A in the last label'),
  bad('mi\u017Fs@example.org', 'non_ascii', 'long s U+017F, which becomes S in upper case'),
  bad('name@mi\u017Fs.org', 'non_ascii_domain', 'long s U+017F in the domain'),
  bad('I\u0307@example.org', 'non_ascii', 'combining dot above, which U+0130 has in lower case'),
  bad('n\u0430me@example.org', 'non_ascii', 'Cyrillic a U+0430, a homoglyph'),
  bad('name@ex\u0430mple.org', 'non_ascii_domain', 'Cyrillic a U+0430 in the domain, a homoglyph'),
  bad('name@example.\u043Erg', 'non_ascii_domain', 'Cyrillic o U+043E in the last label, a homoglyph'),
  bad('cafe\u0301@example.org', 'non_ascii', 'decomposed e acute'),
  bad('name@example\u2024org', 'non_ascii_domain', 'one dot leader U+2024 looks like a dot'),
  bad('na\uD800me@example.org', 'non_ascii', 'lone high surrogate: not Unicode'),
  bad('name@exam\uDC00ple.org', 'non_ascii_domain', 'lone low surrogate in the domain'),
  bad('na\u0661me@example.org', 'non_ascii', 'Arabic-Indic digit one: a digit, but not ASCII'),
]

const CONTROLS: readonly Vector[] = [
  bad('\0name@example.org', 'non_ascii', 'NUL at the start: not white space, so it is not trimmed'),
  bad('name@example.org\0', 'non_ascii', 'NUL at the end'),
  bad('na\0me@example.org', 'non_ascii', 'NUL inside'),
  bad('na\x07me@example.org', 'non_ascii', 'bell'),
  bad('na\x1Bme@example.org', 'non_ascii', 'escape'),
  bad('na\x7Fme@example.org', 'non_ascii', 'delete: ASCII, but not printable'),
  bad('na\x80me@example.org', 'non_ascii', 'first of the C1 controls'),
  bad('na\u0085me@example.org', 'non_ascii', 'NEL U+0085 inside'),
  bad('name@example.org\u0085', 'non_ascii_domain', 'NEL U+0085 at the end: not white space in ECMA-262'),
  bad('na\tme@example.org', 'non_ascii', 'tab inside'),
  bad('name@exam\tple.org', 'non_ascii', 'tab inside the domain'),
  bad('na\nme@example.org', 'non_ascii', 'line feed inside'),
  bad('name@example.org\nx', 'non_ascii', 'the rule ends at the end of the text, not of the line'),
  bad('x\nname@example.org', 'non_ascii', 'the rule starts at the start of the text, not of the line'),
  bad('name@example.org\r\nSubject: hello', 'non_ascii', 'CRLF header injection'),
  bad('name@example.org\r\nBcc: other@example.org', 'several', 'CRLF header injection of an address'),
  bad('name@example.org\rRCPT TO:<other@example.org>', 'several', 'CR command injection of an address'),
  bad('name@example.org%0d%0aBcc:x', 'malformed', 'percent-encoded CRLF is not decoded'),
]

const BLANKS: readonly Vector[] = [
  good(' name@example.org ', 'spaces around are trimmed', 'name@example.org'),
  good('\tname@example.org\t', 'tabs around are trimmed', 'name@example.org'),
  good('\r\nname@example.org\r\n', 'line ends around are trimmed', 'name@example.org'),
  good('\v\fname@example.org\f\v', 'vertical tab and form feed are trimmed', 'name@example.org'),
  good('\u00A0name@example.org\u00A0', 'NBSP around is trimmed', 'name@example.org'),
  good('\uFEFFname@example.org\uFEFF', 'BOM around is trimmed', 'name@example.org'),
  good('\u3000name@example.org\u3000', 'ideographic space around is trimmed', 'name@example.org'),
  good('\u2028name@example.org\u2029', 'line and paragraph separator are trimmed', 'name@example.org'),
  good(' \t\uFEFF Name@Example.ORG \n', 'white space is trimmed, and the case is kept', 'Name@Example.ORG'),
  bad('na\u00A0me@example.org', 'non_ascii', 'NBSP inside'),
  bad('name@exam\u00A0ple.org', 'non_ascii_domain', 'NBSP inside the domain'),
  bad('na\uFEFFme@example.org', 'non_ascii', 'BOM inside'),
  bad('na\u3000me@example.org', 'non_ascii', 'ideographic space inside'),
  bad('na\u2028me@example.org', 'non_ascii', 'line separator inside'),
  bad('\u200Bname@example.org', 'non_ascii', 'zero-width space at the start: a format character, so it is not trimmed'),
  bad('na\u200Bme@example.org', 'non_ascii', 'zero-width space inside'),
  bad('na\u200Dme@example.org', 'non_ascii', 'zero-width joiner'),
  bad('na\u200Cme@example.org', 'non_ascii', 'zero-width non-joiner'),
  bad('name@exam\u200Dple.org', 'non_ascii_domain', 'zero-width joiner in the domain'),
  bad('na\u00ADme@example.org', 'non_ascii', 'soft hyphen'),
  bad('\u200Fname@example.org', 'non_ascii', 'right-to-left mark'),
  bad('\u202Ename@example.org\u202C', 'non_ascii', 'right-to-left override'),
  bad('name @example.org', 'malformed', 'space before the @: obs-local-part, refused by the rule'),
  bad('name@ example.org', 'malformed', 'space after the @: obs-domain, refused by the rule'),
]

const AT_SIGNS: readonly Vector[] = [
  bad('name', 'malformed', 'no @'),
  bad('example.org', 'malformed', 'only a domain'),
  bad('name.example.org', 'malformed', 'a dot instead of the @'),
  bad('name at example.org', 'malformed', 'a word instead of the @'),
  bad('@', 'malformed', 'only an @'),
  bad('@example.org', 'malformed', 'no local part'),
  bad('name@', 'malformed', 'no domain'),
  bad('name@@example.org', 'malformed', 'doubled @'),
  bad('name@other@example.org', 'malformed', 'two @: the @ is not atext'),
  bad('@relay.example,@other.example:name@example.org', 'several', 'source route: RFC 5321 appendix C'),
]

const AROUND: readonly Vector[] = [
  bad('name(comment)@example.org', 'malformed', 'comment: in RFC 5322 section 3.2.2, but not in RFC 5321'),
  bad('(comment)name@example.org', 'malformed', 'comment before the local part'),
  bad('name@example.org (Name)', 'malformed', 'comment after the domain'),
  bad('name@(comment)example.org', 'malformed', 'comment in the domain'),
  bad('Name <name@example.org>', 'display_name', 'name-addr: RFC 5322 section 3.4'),
  bad('"Last, First" <name@example.org>', 'display_name', 'quoted display name with a comma'),
  bad('Jürgen <name@example.org>', 'display_name', 'non-ASCII display name: the display name is the reason'),
  bad('name@example.org <name@example.org>', 'display_name', 'the address as its own display name'),
  bad(' <name@example.org> ', 'display_name', 'angle brackets: part of the SMTP command, not of the address'),
  bad('<name@example.org', 'malformed', 'only an opening angle bracket'),
  bad('<>', 'malformed', 'null reverse-path: RFC 5321 section 4.5.5'),
  bad('mailto:name@example.org', 'malformed', 'mailto URL: RFC 6068'),
  bad('name@example.org?subject=x', 'malformed', 'end of a mailto URL'),
  bad('name@example.org,', 'malformed', 'trailing comma after one address'),
  bad("'name@example.org'", 'malformed', 'quotes around the address: the second is not LDH'),
]

const SEVERAL: readonly Vector[] = [
  bad('a@example.org,b@example.org', 'several', 'two, separated by a comma: RFC 5322 section 3.4, address-list'),
  bad('a@example.org, b@example.org', 'several', 'two, separated by a comma and a space'),
  bad('a@example.org;b@example.org', 'several', 'two, separated by a semicolon'),
  bad('a@example.org b@example.org', 'several', 'two, separated by a space'),
  bad('a@example.org\tb@example.org', 'several', 'two, separated by a tab'),
  bad('a@example.org\nb@example.org', 'several', 'two, separated by a line feed'),
  bad('a@example.org\r\nb@example.org', 'several', 'two, separated by CRLF'),
  bad('a@example.org and b@example.org', 'several', 'two, separated by a word'),
  bad('A <a@example.org>, B <b@example.org>', 'several', 'two with display names: the number is the reason'),
  bad('a@example.org,b@example.org,c@example.org', 'several', 'three'),
  bad(Array(30).fill('a@example.org').join(','), 'several', 'many, and too long: the number is the reason'),
]

const NO_TEXT: readonly Vector[] = [
  bad('', 'empty', 'empty'),
  bad(' ', 'empty', 'only a space'),
  bad(' \t\r\n\u00A0\uFEFF\u3000', 'empty', 'only white space, of all kinds'),
  bad(undefined, 'missing', 'the member is missing'),
  bad(null, 'not_a_string', 'null'),
  bad(0, 'not_a_string', 'number'),
  bad(Number.NaN, 'not_a_string', 'not a number'),
  bad(true, 'not_a_string', 'boolean'),
  bad(false, 'not_a_string', 'boolean'),
  bad([], 'not_a_string', 'empty array'),
  bad(['name@example.org'], 'not_a_string', 'array of one address, which converts to that address'),
  bad({}, 'not_a_string', 'object'),
  bad({ toString: () => 'name@example.org' }, 'not_a_string', 'object that converts to an address'),
  bad(new String('name@example.org'), 'not_a_string', 'String object, which JSON does not have'),
]

export const VECTORS: readonly Vector[] = [
  ...[PLAIN, ATEXT, NOT_ATEXT, DOTS, LENGTHS, LABELS, LITERALS].flat(),
  ...[NOT_ASCII, CONTROLS, BLANKS, AT_SIGNS, AROUND, SEVERAL, NO_TEXT].flat(),
]
