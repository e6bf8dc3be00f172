/** Typing errors: the address that was probably meant, and whether a word is a typing error of another. Pure; also runs in browsers. */

/** Big providers of mailboxes, to which a domain may be close. */
const PROVIDERS = `gmail.com googlemail.com yahoo.com yahoo.co.uk yahoo.co.jp yahoo.com.br ymail.com rocketmail.com
hotmail.com hotmail.co.uk outlook.com live.com msn.com icloud.com aol.com mail.com email.com gmx.com gmx.net gmx.de
web.de t-online.de freenet.de posteo.de mailbox.org proton.me protonmail.com fastmail.com orange.fr wanadoo.fr free.fr
laposte.net libero.it virgilio.it tiscali.it uol.com.br bol.com.br terra.com.br ziggo.nl kpnmail.nl interia.pl onet.pl
ukr.net 163.com 126.com docomo.ne.jp softbank.ne.jp mail.ru yandex.ru comcast.net verizon.net btinternet.com`.split(
  /\s/,
)

/**
 * Real domains with mailboxes that are close to a provider. The page would ask whether an address at the provider is meant, and a press on
 * that would subscribe a stranger.
 */
const CLOSE_DOMAINS = ['mailo.com', 'y7mail.com', 'love.com', 'cloud.com', 'libera.it']

/** With fewer characters, too many other domains are close. */
const MIN_LENGTH = 8

/** A name with at most so many letters, such as `live`, is close to many real ones: `love`, `line`, `olive`. */
const SHORT_NAME_LENGTH = 4

/** The top-level domains that are close to `com`. Any other ending that is close to it, such as `con` or `vom`, is none (IANA). */
const ENDINGS_LIKE_COM = ['com', 'co', 'cm', 'om', 'cam', 'bom', 'mom']

/** Returns an address with the domain that was probably meant; undefined when its domain is real, or close to none. */
export function findLikelyAddress(address: string): string | undefined {
  const start = address.lastIndexOf('@') + 1
  const likely = findLikelyDomain(address.slice(start).toLowerCase())
  return likely && address.slice(0, start) + likely
}

function findLikelyDomain(domain: string): string | undefined {
  const start = domain.lastIndexOf('.') + 1
  const ending = domain.slice(start)
  if (!isTypo(ending, 'com') || ENDINGS_LIKE_COM.includes(ending)) return findProvider(domain)
  // The name before it may have an error too.
  const corrected = `${domain.slice(0, start)}com`
  return findProvider(corrected) ?? corrected
}

/** Returns the provider that was probably meant. */
function findProvider(domain: string): string | undefined {
  const isReal = PROVIDERS.includes(domain) || CLOSE_DOMAINS.includes(domain) || isInAnotherCountry(domain)
  return isReal ? undefined : PROVIDERS.find((known) => known.length >= MIN_LENGTH && isTypoOfProvider(domain, known))
}

function isTypoOfProvider(domain: string, known: string): boolean {
  const isShort = known.indexOf('.') <= SHORT_NAME_LENGTH
  return isShort ? hasSwap(domain, known) || lacksLetter(domain, known) : isTypo(domain, known)
}

/** Whether a domain is a provider's in another country, such as outlook.es. Some codes are also typing errors of com. */
function isInAnotherCountry(domain: string): boolean {
  const [name] = domain.split('.')
  return PROVIDERS.some((known) => known.split('.')[0] === name) && COUNTRY.test(domain)
}

/** Matches the code of a country at the end of a domain, but for those that are typing errors of com. */
const COUNTRY = /\.(?!co$|cm$|om$)[a-z]{2}$/

/** Whether a word is another one, but for at most one error of typing. */
export function isTypo(word: string, known: string): boolean {
  return (
    hasSwap(word, known) || lacksLetter(word, known) || hasLetterTooMany(word, known) || hasWrongLetter(word, known)
  )
}

/** Two neighbors are swapped, as in `gmial`; or the words are the same. */
function hasSwap(word: string, known: string): boolean {
  const at = findDifference(word, known)
  const before = known.slice(0, at)
  const one = known.charAt(at)
  const other = known.charAt(at + 1)
  const after = known.slice(at + 2)
  return word === before + other + one + after
}

/** A letter is missing, as in `gmal`. */
function lacksLetter(word: string, known: string): boolean {
  const at = findDifference(word, known)
  return word === known.slice(0, at) + known.slice(at + 1)
}

/** There is a letter too many, as in `gmaiil`. */
function hasLetterTooMany(word: string, known: string): boolean {
  return lacksLetter(known, word)
}

/** A letter is wrong, as in `gmaul`. */
function hasWrongLetter(word: string, known: string): boolean {
  const at = findDifference(word, known)
  return word.length === known.length && word.slice(at + 1) === known.slice(at + 1)
}

/** Returns the index of the first letter that differs: the length of the shorter word if it is the start of the other one. */
function findDifference(word: string, known: string): number {
  let at = 0
  while (at < word.length && word[at] === known[at]) at++
  return at
}
