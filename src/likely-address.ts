/** Typing errors: the address that was probably meant, and whether a word is a typing error of another. Pure; also runs in browsers. */

/** Big providers of mailboxes. A domain that is one of them, or is not close to one, is taken as it is. */
const PROVIDERS = `gmail.com googlemail.com yahoo.com yahoo.co.uk yahoo.co.jp yahoo.com.br ymail.com rocketmail.com
hotmail.com hotmail.co.uk outlook.com live.com msn.com icloud.com aol.com mail.com email.com gmx.com gmx.net gmx.de
web.de t-online.de freenet.de posteo.de mailbox.org proton.me protonmail.com fastmail.com orange.fr wanadoo.fr free.fr
laposte.net libero.it virgilio.it tiscali.it uol.com.br bol.com.br terra.com.br ziggo.nl kpnmail.nl interia.pl onet.pl
ukr.net 163.com 126.com docomo.ne.jp softbank.ne.jp mail.ru yandex.ru comcast.net verizon.net btinternet.com`.split(
  /\s/,
)

/** With fewer characters, too many other domains are close. */
const MIN_LENGTH = 8

/** Returns an address with the provider that was probably meant; undefined when its domain is one, or close to none. */
export function findLikelyAddress(address: string): string | undefined {
  const start = address.lastIndexOf('@') + 1
  const domain = address.slice(start).toLowerCase()
  if (PROVIDERS.includes(domain) || isInAnotherCountry(domain)) return undefined
  const provider = PROVIDERS.find((known) => known.length >= MIN_LENGTH && isTypo(domain, known))
  return provider && address.slice(0, start) + provider
}

/** Whether a domain is a provider's in another country, such as outlook.es. Some codes are also typing errors of com. */
function isInAnotherCountry(domain: string): boolean {
  const [name] = domain.split('.')
  return PROVIDERS.some((known) => known.split('.')[0] === name) && /\.(?!co$|cm$|om$)[a-z]{2}$/.test(domain)
}

/** Whether a word is another one but for at most one letter that is wrong, missing or too many, or two that are swapped. */
export function isTypo(word: string, known: string): boolean {
  const errors = countErrors(word, known)
  return errors < 2 || (errors === 2 && toSorted(word) === toSorted(known))
}

/**
 * Counts the letters that are missing, added or wrong (Levenshtein distance); two that are swapped are two. Not by a library:
 * the fast ones have more code than the rest of this file, which is in every first visit.
 */
function countErrors(text: string, known: string): number {
  let row = Array.from({ length: known.length + 1 }, (_, index) => index)
  for (const letter of text) {
    const next = [(row[0] ?? 0) + 1]
    for (const [index, above] of row.slice(1).entries()) {
      const replaced = (row[index] ?? 0) + Number(letter !== known[index])
      next.push(Math.min(above + 1, (next[index] ?? 0) + 1, replaced))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

function toSorted(text: string): string {
  return [...text].sort().join('')
}
