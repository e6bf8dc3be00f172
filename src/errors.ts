/** The closed set of errors: for each fault the code, the status, the text and what the caller is to do next. */

import type { AddressReason } from './email.ts'
import { BODY_DEADLINE_MS, MAX_ADDRESS_LENGTH, MAX_BODY_BYTES, MAX_LOCAL_PART_LENGTH } from './limits.ts'

/** The stable codes; a caller may switch on them. Nothing else is ever a code. */
export const ERROR_CODES = [
  'invalid_email',
  'invalid_body',
  'method_not_allowed',
  'not_found',
  'storage_failure',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

/** An error as its caller sees it. `message` says what is wrong, `hint` what to do next; neither holds anything internal. */
export interface Problem {
  readonly status: 400 | 404 | 405 | 408 | 413 | 415 | 500
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
}

/** What can be wrong with a request, an address aside. */
export type RequestReason =
  | 'no_body'
  | 'malformed_json'
  | 'not_an_object'
  | 'slow_body'
  | 'large_body'
  | 'media_type'
  | 'post_only'
  | 'read_only'
  | 'no_such_path'
  | 'store_failed'

export type ErrorReason = AddressReason | RequestReason

/** A body that is taken. */
export const EXAMPLE_BODY = '{"email":"name@example.org"}'

const SEND_JSON = `Send a JSON object such as ${EXAMPLE_BODY}`
const ONE_ADDRESS = `one address such as name@example.org, at most ${MAX_ADDRESS_LENGTH} characters`

/** Every fault with its answer. */
export const PROBLEMS: Readonly<Record<ErrorReason, Problem>> = {
  missing: invalidEmail('The member "email" is missing.', `Add the member "email": ${ONE_ADDRESS}.`),
  not_a_string: invalidEmail(
    'The member "email" is not a string.',
    `Send "email" as a string: ${ONE_ADDRESS}.`,
  ),
  empty: invalidEmail('The email address is empty.', `Send ${ONE_ADDRESS}.`),
  too_long: invalidEmail(
    'The email address is too long.',
    `Send an address of at most ${MAX_ADDRESS_LENGTH} characters, of which at most ${MAX_LOCAL_PART_LENGTH} stand before the @.`,
  ),
  display_name: invalidEmail(
    'The email address comes with a display name.',
    `Leave out the name and the angle brackets, and send only what stands between them: ${ONE_ADDRESS}.`,
  ),
  several: invalidEmail(
    'There is more than one email address.',
    `Send one request for each address: ${ONE_ADDRESS}.`,
  ),
  non_ascii_domain: invalidEmail(
    'The domain of the email address has characters outside ASCII.',
    `Send the domain in its ASCII form, which begins with xn-- (UTS #46, RFC 5891), at most ${MAX_ADDRESS_LENGTH} characters in all.`,
  ),
  non_ascii: invalidEmail(
    'The email address has characters outside printable ASCII.',
    `Send ${ONE_ADDRESS}, in printable ASCII without spaces.`,
  ),
  malformed: invalidEmail('The email address is not valid.', `Send ${ONE_ADDRESS}.`),
  no_body: invalidBody(400, 'The request has no body.', `${SEND_JSON}.`),
  malformed_json: invalidBody(400, 'The body is not valid JSON.', `${SEND_JSON}, in UTF-8.`),
  not_an_object: invalidBody(400, 'The body is JSON, but not an object.', `${SEND_JSON}.`),
  slow_body: invalidBody(
    408,
    'The body did not arrive in time.',
    `Send the whole body within ${BODY_DEADLINE_MS / 1000} seconds; the request can be repeated as it is.`,
  ),
  large_body: invalidBody(
    413,
    'The body is too large.',
    `Send at most ${MAX_BODY_BYTES} bytes: one address a request.`,
  ),
  media_type: invalidBody(
    415,
    'The media type of the body is not application/json.',
    'Send the header Content-Type: application/json.',
  ),
  post_only: {
    status: 405,
    code: 'method_not_allowed',
    message: 'This path takes POST only.',
    hint: `Use POST. ${SEND_JSON}.`,
  },
  read_only: {
    status: 405,
    code: 'method_not_allowed',
    message: 'This path is read-only.',
    hint: 'Use GET or HEAD.',
  },
  no_such_path: {
    status: 404,
    code: 'not_found',
    message: 'There is nothing at this path.',
    hint: 'Read /openapi.json for all paths, or /llms.txt for a guide.',
  },
  store_failed: {
    status: 500,
    code: 'storage_failure',
    message: 'The request could not be completed; no address is confirmed as stored.',
    hint: 'Nothing is wrong with the request: repeat it as it is in a few seconds. Repeating is safe.',
  },
}

/** What can be wrong with a request to a page, which is no part of the description. */
export const PAGE_PROBLEMS = {
  form_only: invalidBody(
    415,
    'The media type of the body is not that of an HTML form.',
    'Programs send JSON to the API, which /openapi.json describes; a form is sent as application/x-www-form-urlencoded.',
  ),
  page_methods: {
    status: 405,
    code: 'method_not_allowed',
    message: 'This path is a page with a form.',
    hint: 'Use GET or HEAD, or POST for the form.',
  },
} as const satisfies Record<string, Problem>

/** The body of an error, the same shape for every code. */
export interface ErrorBody {
  readonly ok: false
  readonly message: ErrorCode
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly hint: string }
}

/** Builds the body that a problem is answered with. */
export function toErrorBody({ code, message, hint }: Problem): ErrorBody {
  return { ok: false, message: code, error: { code, message, hint } }
}

function invalidEmail(message: string, hint: string): Problem {
  return { status: 400, code: 'invalid_email', message, hint }
}

function invalidBody(status: 400 | 408 | 413 | 415, message: string, hint: string): Problem {
  return { status, code: 'invalid_body', message, hint }
}
