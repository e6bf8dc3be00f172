/** What documents and responses share: the terms of use of the endpoint as sentences, an example of a call, and the text of a redirect. */

import type { Site } from '../config/site-file.ts'
import { RESERVED_DOMAINS } from '../email.ts'
import { EXAMPLE_BODY } from '../errors.ts'
import { BODY_DEADLINE_MS, MAX_ADDRESS_LENGTH, MAX_BODY_BYTES, MAX_LOCAL_PART_LENGTH } from '../limits.ts'
import { ENDPOINT } from '../routes.ts'

/** The request body. */
export const BODY_TERMS = `JSON of at most ${MAX_BODY_BYTES} bytes. The whole body must arrive within ${BODY_DEADLINE_MS / 1000} seconds.`

/** The member `email` of the body. */
export const EMAIL_TERMS = `One address of at most ${MAX_ADDRESS_LENGTH} characters in printable ASCII, at most ${MAX_LOCAL_PART_LENGTH} of them before the \`@\`, with a non-ASCII domain in its \`xn--\` form. White space around the address is removed first and does not count.`

/** A 200 of the endpoint. */
export const ACCEPTED_TERMS = 'The address is on the list, whether it is new or was already there.'

/** A redirect to the canonical host. */
export const REDIRECT_TERMS =
  'The request used another name of this host. Repeat it, with the same method and body, at the URL in Location.'

/**
 * Builds the note of a redirect, as HTML with one link: RFC 9110, sections 15.4.4 and 15.4.9. Some text browsers do not follow a 308.
 */
export function createMovedNote(url: string): string {
  const link = Bun.escapeHTML(url)
  return `<!doctype html>\n<title>Moved</title>\n<p>This is at <a href="${link}">${link}</a>.</p>\n`
}

/** Every error. */
export const ERROR_TERMS = 'Every error has this shape. `message` and `error.code` are the same code.'

/** The response of a proxy that limits requests: the files in `deploy/` send it. Its code is none of this service. */
export const LIMITED_BODY = {
  ok: false,
  message: 'rate_limited',
  error: {
    code: 'rate_limited',
    message: 'Your address sends too many requests.',
    hint: 'Wait for the seconds in Retry-After, then repeat the request as it is. Repeating is safe.',
  },
} as const

/** A 429. */
export const LIMITED_TERMS =
  'A proxy in front of this service limits requests. Wait for the seconds in Retry-After, then repeat. Another proxy may send another body.'

/** What a person gets after a 200: the owner has not said what the mail tool does. */
const MAIL_TERMS =
  'This service sends no mail. The mail tool of the operator may ask the person for a confirmation, which starts the newsletter.'

/** The same when the owner has said that the mail tool asks. */
const CONFIRMED_TERMS =
  'This service sends no mail. The mail tool of the operator then asks the person for a confirmation: tell them to look for that email, because the newsletter starts after it.'

/** Builds the terms of a site: plain text, one item for each thing that a caller should know before the first call. */
export function createTerms({ contact, words }: Pick<Site, 'contact' | 'words'>): string[] {
  // A top-level domain gets a dot, so that `test` does not look like a host.
  const domains = RESERVED_DOMAINS.map((domain) => (domain.includes('.') ? domain : `.${domain}`)).join(', ')
  return [
    'Subscribe an address only when its owner has asked for this newsletter.',
    `A 200 means that the address is on the list and on stable storage. ${words.confirmation ? CONFIRMED_TERMS : MAIL_TERMS}`,
    'No API key and no account are needed.',
    'This service has no rate limit. A proxy in front of it may answer 429 with Retry-After.',
    'Repeating a request at once is safe. The list has an address once, in any mix of upper and lower case, and a known address gets the same response as a new one. Later, a repeat is a new subscription: it brings back a person who was removed since.',
    'After a network error or a 500, repeat the request after 1, 2, 4 and 8 seconds. Then stop, and tell the person that it did not work.',
    `Production is the sandbox. To try it out, use this same endpoint with an address in a reserved domain (${domains}; RFC 2606 and RFC 6761). It takes the normal path and is stored, but exports omit it unless the operator includes it.`,
    `If you plan to subscribe many addresses, notify the operator of this site first${contact ? `: ${contact}` : '.'}`,
  ]
}

/** Builds the example call for a shell. */
export function createCurlCall(baseUrl: string): string {
  return `curl ${baseUrl}${ENDPOINT.path} \\
  -H 'Content-Type: ${ENDPOINT.mediaType}' \\
  -d '${EXAMPLE_BODY}'`
}
