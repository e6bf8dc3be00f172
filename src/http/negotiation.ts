/** What a request says it can take: content codings, languages and entity tags (RFC 9110 sections 12.5 and 13.1). Pure. */

/**
 * Chooses among content codings by an Accept-Encoding field (RFC 9110 section 12.5.3).
 *
 * @param field the field's value; null where there is none, and then any coding would do
 * @param offered in the order of the server's preference; `identity` is always offered, last
 * @returns the coding to send; `identity` also where the request forbids everything, as section 12.5.3 allows
 */
export function chooseCoding<C extends string>(field: string | null, offered: readonly C[]): C | 'identity' {
  if (!field) return 'identity'
  const weights = parseWeights(field)
  const rest = weights.get('*')
  let best: C | 'identity' = 'identity'
  let bestWeight = 0
  for (const coding of offered) {
    const weight = weights.get(coding) ?? rest ?? 0
    if (weight > bestWeight) {
      best = coding
      bestWeight = weight
    }
  }
  return (weights.get('identity') ?? 0) > bestWeight ? 'identity' : best
}

/** Most languages of an Accept-Language field that are looked at; browsers send a handful. */
const MOST_LANGUAGES = 16

/**
 * Chooses among languages by an Accept-Language field: the one that the reader likes best and that is offered.
 * Tags match by language and script (RFC 5646), so that `zh-TW`, which is written in Hant, does not match `zh-Hans`.
 *
 * @param field the field's value; null where there is none
 * @returns undefined where the field names nothing that is offered
 */
export function chooseLanguage<L extends string>(field: string | null, offered: readonly L[]): L | undefined {
  if (!field) return undefined
  const liked = [...parseWeights(field)].slice(0, MOST_LANGUAGES).filter(([, weight]) => weight > 0)
  for (const [tag] of liked.sort(([, one], [, other]) => other - one)) {
    const script = toScript(tag)
    const found = script && offered.find((language) => toScript(language) === script)
    if (found) return found
  }
  return undefined
}

/** The language and the script of a tag, the latter as it is likely where the tag does not say (CLDR, likely subtags). */
function toScript(tag: string): string | undefined {
  try {
    const { language, script } = new Intl.Locale(tag).maximize()
    return `${language}-${script}`
  } catch {
    return undefined
  }
}

/**
 * Whether an Accept field asks for Markdown (RFC 9110 section 12.5.1, RFC 7763): whoever names it, and would
 * not rather have HTML. Browsers name HTML and any type; an agent that can read both names Markdown as well.
 *
 * @param field the field's value; null where there is none
 */
export function prefersMarkdown(field: string | null): boolean {
  if (!field || !/markdown/i.test(field)) return false
  const weights = parseWeights(field)
  const markdown = weights.get('text/markdown') ?? 0
  const html = weights.get('text/html') ?? weights.get('text/*') ?? weights.get('*/*') ?? 0
  return markdown > 0 && markdown >= html
}

/**
 * Reads a list of values with weights (RFC 9110 section 12.4.2); names come out in lower case.
 * A weight that cannot be read counts as 1. Parameters other than `q` are dropped.
 */
export function parseWeights(field: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const item of field.split(',')) {
    const [name = '', ...parameters] = item.split(';')
    const key = name.trim().toLowerCase()
    if (!key) continue
    const q = parameters
      .map((parameter) => /^\s*q\s*=\s*([01](?:\.[0-9]{0,3})?)\s*$/i.exec(parameter)?.[1])
      .find(Boolean)
    weights.set(key, q === undefined ? 1 : Math.min(Number(q), 1))
  }
  return weights
}

/**
 * Whether an If-None-Match field names an entity tag, by weak comparison (RFC 9110 sections 8.8.3.2 and 13.1.2).
 *
 * @param field the field's value: `*`, or a list of strong or weak tags
 * @param etag a strong tag, quotes included
 */
export function matchesEtag(field: string, etag: string): boolean {
  if (field === etag || field.trim() === '*') return true
  return (field.match(/(?:W\/)?"[^"]*"/g) ?? []).some((tag) => tag.replace(/^W\//, '') === etag)
}
