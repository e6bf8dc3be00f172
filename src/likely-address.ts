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

/** Whether a word is another one but for at most one letter that is wrong, missing or too many, or two neighbors that are swapped. */
export function isTypo(word: string, known: string): boolean {
  const end = [...known, ''].findIndex((letter, index) => letter !== word[index])
  const [rest, meant] = [word.slice(end), known.slice(end)]
  const isSwapped = meant[1] !== undefined && rest.startsWith(meant[1] + meant[0])
  return (
    rest.slice(1) === meant.slice(1) ||
    rest === meant.slice(1) ||
    rest.slice(1) === meant ||
    (isSwapped && rest.slice(2) === meant.slice(2))
  )
}
