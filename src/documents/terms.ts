/** On what terms the endpoint is used, in sentences: the description and llms.txt say the same, in the same words. */

import type { Site } from '../config/site-file.ts'
import { RESERVED_DOMAINS } from '../email.ts'
import { BODY_DEADLINE_MS, MAX_ADDRESS_LENGTH, MAX_BODY_BYTES } from '../limits.ts'

/** What the body is. */
export const BODY_TERMS = `JSON of at most ${MAX_BODY_BYTES} bytes, sent whole within ${BODY_DEADLINE_MS / 1000} seconds.`

/** What its member `email` is. */
export const EMAIL_TERMS = `One address of at most ${MAX_ADDRESS_LENGTH} characters in printable ASCII, a domain outside ASCII in its \`xn--\` form. White space around it is removed first; length and pattern apply to what is left.`

/** What a 200 of the endpoint means. */
export const ACCEPTED_TERMS = 'The address is on the list, whether it is new or was there before.'

/** What a redirect to the canonical host means. */
export const REDIRECT_TERMS =
  'The request came to another name of this host; repeat it, with method and body, at the Location.'

/** What errors have in common. */
export const ERROR_TERMS = 'Every error has this shape. `message` and `error.code` are the same code.'

/** One sentence or two for each thing that a caller should know beforehand; plain text. */
export interface Terms {
  /** What a 200 means. */
  readonly kept: string
  /** What it needs to call: nothing. */
  readonly open: string
  /** What happens when a request is sent again. */
  readonly repeatable: string
  /** How to try it out. */
  readonly sandbox: string
  /** What to do before a great many requests. */
  readonly many: string
}

/** Builds the terms of a site. */
export function createTerms({ contact }: Pick<Site, 'contact'>): Terms {
  return {
    kept: 'A 200 says that the address is on the list and on stable storage; nothing is sent to it.',
    open: 'No account, no key and no rate limit.',
    repeatable:
      'Repeating a request is safe: an address is on the list once, whatever its case, and a known address is answered just like a new one.',
    sandbox: `To try it out, use this same endpoint with an address in a reserved domain (${toWords(RESERVED_DOMAINS)}; RFC 2606 and RFC 6761): it takes the real path and is stored, but is left out of exports unless the operator asks for it.`,
    many: `If you plan to subscribe many addresses, tell the operator${contact ? ` (${contact})` : ''} first.`,
  }
}

/** Top-level domains get their dot, so that nobody takes `test` for a host. */
function toWords(domains: readonly string[]): string {
  return domains.map((domain) => (domain.includes('.') ? domain : `.${domain}`)).join(', ')
}
