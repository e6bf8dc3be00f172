/** The closed set of errors: the status, code, message and hint for each reason. */

import type { AddressReason } from './email.ts'
import { BODY_DEADLINE_MS, MAX_ADDRESS_LENGTH, MAX_BODY_BYTES, MAX_LOCAL_PART_LENGTH } from './limits.ts'
import { ALLOW } from './routes.ts'

/** The codes of the contract. Callers rely on them, so the set is closed. */
export const ERROR_CODES = [
  'invalid_email',
  'invalid_body',
  'method_not_allowed',
  'not_found',
  'storage_failure',
] as const

/** An error as the caller sees it. It contains nothing internal (path, SQL, stack). */
export interface Problem {
  readonly status: 400 | 404 | 405 | 408 | 413 | 415 | 500
  readonly code: (typeof ERROR_CODES)[number]
  /** What is wrong. */
  readonly message: string
  /** What the caller can do next. */
  readonly hint: string
  /** The header of a 405 (RFC 9110 section 15.5.6). */
  readonly allow?: string
}

/** A valid request body. */
export const EXAMPLE_BODY = '{"email":"name@example.org"}'

const SEND_JSON = `Send a JSON object such as ${EXAMPLE_BODY}`
const ONE_ADDRESS = `one address such as name@example.org, at most ${MAX_ADDRESS_LENGTH} characters`

/** The error for each reason. */
export const PROBLEMS = {
  missing: invalidEmail('The member "email" is missing.', `Add the member "email": ${ONE_ADDRESS}.`),
  not_a_string: invalidEmail('The member "email" is not a string.', `Send "email" as a string: ${ONE_ADDRESS}.`),
  empty: invalidEmail('The email address is empty.', `Send ${ONE_ADDRESS}.`),
  too_long: invalidEmail(
    'The email address is too long.',
    `Send an address of at most ${MAX_ADDRESS_LENGTH} characters, with at most ${MAX_LOCAL_PART_LENGTH} before the @.`,
  ),
  display_name: invalidEmail(
    'The email address includes a display name.',
    `Remove the name and the angle brackets. Send only the text between the brackets: ${ONE_ADDRESS}.`,
  ),
  several: invalidEmail('There is more than one email address.', `Send one request for each address: ${ONE_ADDRESS}.`),
  invisible: invalidEmail(
    'The email address has an invisible character.',
    `Remove it, for example a zero-width space (U+200B) or a soft hyphen (U+00AD). Send ${ONE_ADDRESS}.`,
  ),
  non_ascii_domain: invalidEmail(
    'The domain of the email address has non-ASCII characters.',
    `Send the domain in its ASCII form, which begins with xn-- (UTS #46, RFC 5891), at most ${MAX_ADDRESS_LENGTH} characters in total.`,
  ),
  non_ascii: invalidEmail(
    'The email address has characters that are not printable ASCII.',
    `Send ${ONE_ADDRESS}, in printable ASCII without spaces.`,
  ),
  malformed: invalidEmail('The email address is not valid.', `Send ${ONE_ADDRESS}.`),
  no_body: invalidBody(400, 'The request has no body.', `${SEND_JSON}.`),
  malformed_json: invalidBody(400, 'The body is not valid JSON.', `${SEND_JSON}, in UTF-8.`),
  not_an_object: invalidBody(400, 'The body is JSON, but not an object.', `${SEND_JSON}.`),
  slow_body: invalidBody(
    408,
    'The body did not arrive in time.',
    `Send the whole body within ${BODY_DEADLINE_MS / 1000} seconds. The request can be repeated as it is.`,
  ),
  large_body: invalidBody(
    413,
    'The body is too large.',
    `Send at most ${MAX_BODY_BYTES} bytes: one address per request.`,
  ),
  media_type: invalidBody(
    415,
    'The media type of the body is not application/json.',
    'Send the header Content-Type: application/json.',
  ),
  two_media_types: invalidBody(
    415,
    'The request has more than one Content-Type.',
    'Send one header Content-Type: application/json.',
  ),
  content_coding: invalidBody(
    415,
    'The body is not valid JSON, and the request has a Content-Encoding.',
    `Send the body without Content-Encoding and without compression. ${SEND_JSON}.`,
  ),
  post_only: methodNotAllowed(ALLOW.endpoint, 'This path accepts only POST.', `Use POST. ${SEND_JSON}.`),
  read_only: methodNotAllowed(ALLOW.document, 'This path is read-only.', 'Use GET or HEAD.'),
  no_such_path: {
    status: 404,
    code: 'not_found',
    message: 'There is nothing at this path.',
    hint: 'Read /openapi.json for all paths, /llms.txt for a guide, or /sitemap.xml for all pages.',
  },
  store_failed: {
    status: 500,
    code: 'storage_failure',
    message: 'The request could not be completed. No address was confirmed as stored.',
    hint: 'Nothing is wrong with the request: repeat it as it is in a few seconds. Repeating is safe.',
  },
} as const satisfies Record<AddressReason, Problem> & Record<string, Problem>

export type ErrorReason = keyof typeof PROBLEMS

/** Errors that are not part of the description: those of the pages, and of a request with two hosts (RFC 9112 section 3.2). */
export const UNDESCRIBED_PROBLEMS = {
  form_only: invalidBody(
    415,
    'The media type of the body is not that of an HTML form.',
    'To use the API, send JSON to the path in /openapi.json. To send the form, use application/x-www-form-urlencoded.',
  ),
  page_methods: methodNotAllowed(
    ALLOW.page,
    'This path is a page with a form.',
    'Use GET or HEAD, or POST to send the form.',
  ),
  two_hosts: invalidBody(400, 'The request has more than one Host.', 'Send one header Host.'),
} as const satisfies Record<string, Problem>

/** Returns the body of the response to a problem. By the contract, `message` outside of `error` is the code. */
export function toErrorBody({ code, message, hint }: Problem) {
  return { ok: false, message: code, error: { code, message, hint } } as const
}

function invalidEmail(message: string, hint: string): Problem {
  return { status: 400, code: 'invalid_email', message, hint }
}

function invalidBody(status: 400 | 408 | 413 | 415, message: string, hint: string): Problem {
  return { status, code: 'invalid_body', message, hint }
}

function methodNotAllowed(allow: string, message: string, hint: string): Problem {
  return { status: 405, code: 'method_not_allowed', message, hint, allow }
}
