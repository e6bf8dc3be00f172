/**
 * Content negotiation and conditional requests (RFC 9110 sections 12.5 and 13.1). Pure functions. A field that is longer
 * than MAX_LIST_FIELD_LENGTH counts as missing.
 */

import { MAX_LIST_FIELD_LENGTH } from '../limits.ts'

/**
 * Chooses a content coding by the Accept-Encoding header (RFC 9110 section 12.5.3).
 *
 * @param field the value of the header; null when it is missing, which means that any coding is acceptable
 * @param offered codings in the server's order of preference, besides `identity`
 * @returns `identity` also when the request forbids everything, which section 12.5.3 allows
 */
export function chooseCoding<C extends string>(field: string | null, offered: readonly C[]): C | 'identity' {
  if (!isReadable(field)) return 'identity'
  const weights = toWeights(field)
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

/**
 * Whether an Accept header prefers Markdown (RFC 9110 section 12.5.1, RFC 7763): it names Markdown with at least the
 * weight of HTML. Browsers name HTML and any type; agents that read both name Markdown too.
 *
 * @param field the value of the header; null when it is missing
 */
export function prefersMarkdown(field: string | null): boolean {
  if (!isReadable(field) || !/markdown/i.test(field)) return false
  const weights = toWeights(field)
  const markdown = weights.get('text/markdown') ?? 0
  const html = weights.get('text/html') ?? weights.get('text/*') ?? weights.get('*/*') ?? 0
  return markdown > 0 && markdown >= html
}

/**
 * Parses a list of values with weights (RFC 9110 section 12.4.2). Names are in lower case.
 * An invalid weight counts as 1. Parameters other than `q` are ignored.
 */
export function toWeights(field: string): Map<string, number> {
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
 * Whether an If-None-Match header names an entity tag, by weak comparison (RFC 9110 sections 8.8.3.2 and 13.1.2).
 *
 * @param field the value of the header: `*`, or a list of strong or weak tags
 * @param etag a strong tag with its quotes
 */
export function matchesEtag(field: string, etag: string): boolean {
  if (!isReadable(field)) return false
  if (field === etag || field.trim() === '*') return true
  return (field.match(/(?:W\/)?"[^"]*"/g) ?? []).some((tag) => tag.replace(/^W\//, '') === etag)
}

function isReadable(field: string | null): field is string {
  return field !== null && field !== '' && field.length <= MAX_LIST_FIELD_LENGTH
}
