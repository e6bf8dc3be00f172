/**
 * The public contract as literal data. Tests compare responses with these literals, so nothing here comes from
 * src/: a changed code, status, header or text in src/ must fail a test. Only types are imported.
 */

import type { ErrorReason } from '../../src/errors.ts'
import type { DocumentName } from '../../src/routes.ts'

/** A path with what its 200 is. */
export interface ContractResource {
  readonly path: string
  readonly operationId: string
  readonly mediaType: string
}

/** A response of the JSON contract. */
export interface ContractResponse {
  readonly status: number
  readonly allow: string | null
  readonly body: string
}

export const ENDPOINT: ContractResource = {
  path: '/api/newsletter',
  operationId: 'subscribeToNewsletter',
  mediaType: 'application/json',
}

export const DOCUMENTS: Readonly<Record<DocumentName, ContractResource>> = {
  openApiJson: {
    path: '/openapi.json',
    operationId: 'getOpenApiJson',
    mediaType: 'application/json',
  },
  openApiYaml: {
    path: '/openapi.yaml',
    operationId: 'getOpenApiYaml',
    mediaType: 'text/yaml; charset=utf-8',
  },
  llmsTxt: {
    path: '/llms.txt',
    operationId: 'getLlmstxt',
    mediaType: 'text/markdown; charset=utf-8',
  },
  sitemap: {
    path: '/sitemap.xml',
    operationId: 'getSitemap',
    mediaType: 'application/xml',
  },
  protectedResource: {
    path: '/.well-known/oauth-protected-resource',
    operationId: 'getProtectedResourceMetadata',
    mediaType: 'application/json',
  },
  robots: {
    path: '/robots.txt',
    operationId: 'getRobots',
    mediaType: 'text/plain; charset=utf-8',
  },
  apiCatalog: {
    path: '/.well-known/api-catalog',
    operationId: 'getApiCatalog',
    mediaType: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
  },
  securityTxt: {
    path: '/.well-known/security.txt',
    operationId: 'getSecurityTxt',
    mediaType: 'text/plain; charset=utf-8',
  },
}

/** Bytes that a request body may have. */
export const MAX_BODY_BYTES = 16_384

/** Milliseconds that a request body may take. */
export const BODY_DEADLINE_MS = 10_000

/** The response to each case: an accepted address, and everything that can be wrong with a request. */
export const RESPONSES: Readonly<Record<ErrorReason | 'accepted', ContractResponse>> = {
  accepted: { status: 200, allow: null, body: '{"ok":true}' },
  missing: error(
    400,
    'invalid_email',
    'The member "email" is missing.',
    'Add the member "email": one address such as name@example.org, at most 254 characters.',
  ),
  not_a_string: error(
    400,
    'invalid_email',
    'The member "email" is not a string.',
    'Send "email" as a string: one address such as name@example.org, at most 254 characters.',
  ),
  empty: error(
    400,
    'invalid_email',
    'The email address is empty.',
    'Send one address such as name@example.org, at most 254 characters.',
  ),
  too_long: error(
    400,
    'invalid_email',
    'The email address is too long.',
    'Send an address of at most 254 characters, with at most 64 before the @.',
  ),
  display_name: error(
    400,
    'invalid_email',
    'The email address includes a display name.',
    'Remove the name and the angle brackets. Send only the text between the brackets: one address such as name@example.org, at most 254 characters.',
  ),
  several: error(
    400,
    'invalid_email',
    'There is more than one email address.',
    'Send one request for each address: one address such as name@example.org, at most 254 characters.',
  ),
  non_ascii_domain: error(
    400,
    'invalid_email',
    'The domain of the email address has non-ASCII characters.',
    'Send the domain in its ASCII form, which begins with xn-- (UTS #46, RFC 5891), at most 254 characters in total.',
  ),
  non_ascii: error(
    400,
    'invalid_email',
    'The email address has characters that are not printable ASCII.',
    'Send one address such as name@example.org, at most 254 characters, in printable ASCII without spaces.',
  ),
  malformed: error(
    400,
    'invalid_email',
    'The email address is not valid.',
    'Send one address such as name@example.org, at most 254 characters.',
  ),
  no_body: error(
    400,
    'invalid_body',
    'The request has no body.',
    'Send a JSON object such as {"email":"name@example.org"}.',
  ),
  malformed_json: error(
    400,
    'invalid_body',
    'The body is not valid JSON.',
    'Send a JSON object such as {"email":"name@example.org"}, in UTF-8.',
  ),
  not_an_object: error(
    400,
    'invalid_body',
    'The body is JSON, but not an object.',
    'Send a JSON object such as {"email":"name@example.org"}.',
  ),
  slow_body: error(
    408,
    'invalid_body',
    'The body did not arrive in time.',
    'Send the whole body within 10 seconds. The request can be repeated as it is.',
  ),
  large_body: error(
    413,
    'invalid_body',
    'The body is too large.',
    'Send at most 16384 bytes: one address per request.',
  ),
  media_type: error(
    415,
    'invalid_body',
    'The media type of the body is not application/json.',
    'Send the header Content-Type: application/json.',
  ),
  post_only: error(
    405,
    'method_not_allowed',
    'This path accepts only POST.',
    'Use POST. Send a JSON object such as {"email":"name@example.org"}.',
    'POST',
  ),
  read_only: error(405, 'method_not_allowed', 'This path is read-only.', 'Use GET or HEAD.', 'GET, HEAD'),
  no_such_path: error(
    404,
    'not_found',
    'There is nothing at this path.',
    'Read /openapi.json for all paths, /llms.txt for a guide, or /sitemap.xml for all pages.',
  ),
  store_failed: error(
    500,
    'storage_failure',
    'The request could not be completed. No address was confirmed as stored.',
    'Nothing is wrong with the request: repeat it as it is in a few seconds. Repeating is safe.',
  ),
}

function error(
  status: number,
  code: string,
  message: string,
  hint: string,
  allow: string | null = null,
): ContractResponse {
  return {
    status,
    allow,
    body: JSON.stringify({ ok: false, message: code, error: { code, message, hint } }),
  }
}
