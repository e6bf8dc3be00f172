/** Domains outside ASCII, for people: a form and an import convert what the contract would refuse. Pure; runs in browsers too. */

/**
 * Brings the domain of what was typed into its ASCII form: NFC, then UTS #46 as the URL standard applies it
 * (section 3.3, domain to ASCII).
 *
 * @returns the text as it was where its domain is in ASCII already, or cannot be converted; the rule decides then
 */
export function toAsciiDomain(text: string): string {
  const at = text.lastIndexOf('@') + 1
  const domain = text.slice(at).trim().normalize('NFC')
  if (at === 0 || !CONVERTIBLE.test(domain)) return text
  const url = `http://${domain}`
  return URL.canParse(url) ? text.slice(0, at) + new URL(url).hostname : text
}

// Within ASCII only LDH and dots, so that the URL parser takes all of it for a host; and outside ASCII somewhere.
const CONVERTIBLE = /^[A-Za-z0-9.-]*[\u{80}-\u{10ffff}][A-Za-z0-9.\-\u{80}-\u{10ffff}]*$/u
