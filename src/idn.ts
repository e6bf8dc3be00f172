/** Converts internationalized domains to ASCII, for input from people: the form and the import. Pure; also runs in browsers. */

import { NON_ASCII } from './email.ts'

/**
 * Converts the domain of an address to its `xn--` form: NFC, then UTS #46 as in the URL standard (section 3.3,
 * domain to ASCII).
 *
 * @returns the text unchanged if its domain is ASCII already or cannot be converted; the address rule then decides
 */
export function toAsciiDomain(text: string): string {
  const start = text.lastIndexOf('@') + 1
  const typed = text.slice(start)
  const domain = typed.trim().normalize('NFC')
  if (start === 0 || !NON_ASCII.test(typed) || !HOST.test(domain)) return text
  const url = `http://${domain}`
  return URL.canParse(url) ? text.slice(0, start) + new URL(url).hostname : text
}

// Other ASCII characters mean something to the URL parser: it would cut off a path and decode `%41`.
const HOST = /^[A-Za-z0-9.\-\x80-\uffff]+$/
