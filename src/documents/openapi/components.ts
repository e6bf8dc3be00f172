/** The components of the description: schemas, headers, examples and responses. Errors come from the table of errors. */

import type { oas31 } from 'openapi3-ts'
import { ADDRESS_PATTERN } from '../../email.ts'
import { ERROR_CODES, type ErrorReason, PROBLEMS, type Problem, toErrorBody } from '../../errors.ts'
import { MAX_ADDRESS_LENGTH } from '../../limits.ts'
import { ALLOW, CACHE_CONTROL, DOCUMENTS } from '../../routes.ts'
import { createLinkField } from '../links.ts'
import { createMovedNote, EMAIL_TERMS, ERROR_TERMS, LIMITED_BODY, LIMITED_TERMS, REDIRECT_TERMS } from '../terms.ts'

/** Builds the components. */
export function createComponents(baseUrl: string): oas31.ComponentsObject {
  const toExample = (problem: Problem) => ({ summary: problem.message, value: toErrorBody(problem) })
  return {
    // An empty object: there is no way to authenticate, and none is needed.
    securitySchemes: {},
    schemas: { Subscription, Accepted, ErrorResponse, RateLimitResponse, Code },
    responses: mapValues(RESPONSES, toResponse),
    parameters: { IfNoneMatch },
    examples: {
      accepted: { summary: 'Accepted', value: { ok: true } },
      ...mapValues(PROBLEMS, toExample),
      moved: { summary: 'Moved', value: createMovedNote(baseUrl + DOCUMENTS.llmsTxt.path) },
      rate_limited: { summary: LIMITED_BODY.error.message, value: LIMITED_BODY },
    },
    headers: createHeaders(baseUrl),
  }
}

/** Converts each value of an object. */
export function mapValues<T, U>(values: Readonly<Record<string, T>>, convert: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, convert(value)]))
}

/** Refers to a component of the description. */
export function toReference(section: keyof oas31.ComponentsObject, name: string): oas31.ReferenceObject {
  return { $ref: `#/components/${section}/${name}` }
}

/** Builds the schema of an object that has these members and no others. */
export function toObjectSchema(properties: NonNullable<oas31.SchemaObject['properties']>): oas31.SchemaObject {
  return { type: 'object', required: Object.keys(properties), additionalProperties: false, properties }
}

/** Builds the schema of a text that is always the same. */
export function toConstant(value: string): oas31.SchemaObject {
  return { type: 'string', const: value }
}

const Subscription: oas31.SchemaObject = {
  type: 'object',
  description: 'The address to add to the list. Other members are allowed and ignored.',
  required: ['email'],
  additionalProperties: true,
  properties: {
    // `pattern` describes the text as it is sent, with white space around it. So does maxLength, which the contract
    // fixes; the server trims first. A validator that asserts `format` refuses white space.
    email: {
      type: 'string',
      format: 'email',
      maxLength: MAX_ADDRESS_LENGTH,
      pattern: ADDRESS_PATTERN,
      description: EMAIL_TERMS,
      examples: ['name@example.org'],
    },
  },
}

const Accepted: oas31.SchemaObject = {
  ...toObjectSchema({ ok: { type: 'boolean', const: true } }),
  description: 'The same for a new and a known address.',
}

const Code: oas31.SchemaObject = {
  type: 'string',
  description: `The stable code of an error, from a closed set. Codes and their statuses: ${listCodes().join('; ')}.`,
  enum: [...ERROR_CODES],
}

function listCodes(): string[] {
  return ERROR_CODES.map((code) => {
    const ofCode = Object.values(PROBLEMS).filter((problem) => problem.code === code)
    const statuses = new Set(ofCode.map((problem) => problem.status))
    return `\`${code}\` ${[...statuses].join(', ')}`
  })
}

/** A sentence or two for people and models. */
const TEXT: oas31.SchemaObject = { type: 'string', minLength: 1, maxLength: 300 }

/** Builds the schema of an error. JSON Schema cannot say that the two codes are equal, so the description does. */
function createErrorSchema(code: oas31.SchemaObject | oas31.ReferenceObject, description: string): oas31.SchemaObject {
  const texts = {
    message: { ...TEXT, description: 'What is wrong.' },
    hint: { ...TEXT, description: 'What to do next.' },
  }
  const members = {
    ok: { type: 'boolean', const: false },
    message: code,
    error: toObjectSchema({ code, ...texts }),
  } as const
  return { ...toObjectSchema(members), description }
}

const ErrorResponse = createErrorSchema(toReference('schemas', 'Code'), ERROR_TERMS)

const RateLimitResponse = createErrorSchema(toConstant(LIMITED_BODY.message), LIMITED_TERMS)

/** No proxy should ask for a longer pause. */
const DAY_SECONDS = 86_400

/** An example of an entity tag. */
const ETAG_EXAMPLE = '"Xb2Cj2tS0uJq3nTqkqvM0w"'

const IfNoneMatch: oas31.ParameterObject = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The ETag of your copy. If the document has not changed, the response is 304 without a body.',
  schema: { type: 'string' },
  example: ETAG_EXAMPLE,
}

/** Describes a header that a response always has. */
function toHeader(description: string, schema: oas31.SchemaObject, example = schema.const): oas31.HeaderObject {
  return { description, required: true, schema, example }
}

function createHeaders(baseUrl: string): Record<string, oas31.HeaderObject> {
  const links = toConstant(createLinkField(baseUrl))
  const onHost = { type: 'string', pattern: `^${baseUrl.replace(/[.[\]]/g, '\\$&')}/` } as const
  const etag = 'A strong entity tag, different for each content coding. Send it in If-None-Match.'
  return {
    AllowPost: toHeader('The only method of this path.', toConstant(ALLOW.endpoint)),
    AllowRead: toHeader('The only methods of this path.', toConstant(ALLOW.document)),
    AnyOrigin: toHeader('Pages of any origin may read this response.', toConstant('*')),
    ETag: toHeader(etag, { type: 'string', pattern: '^"[^"]+"$' }, ETAG_EXAMPLE),
    Link: toHeader('Links to the documents that describe the API and the site (RFC 8288).', links),
    Location: toHeader('The same path and query on the canonical host.', onHost, baseUrl + DOCUMENTS.llmsTxt.path),
    NoStore: toHeader('Caches do not store this response.', toConstant(CACHE_CONTROL.none)),
    RetryAfter: {
      description: 'Seconds to wait before the next request.',
      schema: { type: 'integer', format: 'int32', minimum: 0, maximum: DAY_SECONDS },
      example: 10,
    },
    PublicCache: toHeader('How long caches may use this response.', toConstant(CACHE_CONTROL.document)),
    VaryByEncoding: toHeader(
      'The response depends on Accept-Encoding.',
      { type: 'string', pattern: 'Accept-Encoding' },
      'Accept-Encoding',
    ),
  }
}

/** Converts a map from header fields to the names of components into references. */
export function toHeaders(names: Readonly<Record<string, string>>): oas31.HeadersObject {
  return mapValues(names, (name) => toReference('headers', name))
}

/** The headers of a response that the endpoint itself gives, not a redirect or a proxy. */
export const ENDPOINT_HEADERS = { 'Cache-Control': 'NoStore' } as const

/** The headers of a document, both with 200 and with 304 (RFC 9110 section 15.4.5). */
export const DOCUMENT_HEADERS = {
  ETag: 'ETag',
  'Cache-Control': 'PublicCache',
  'Access-Control-Allow-Origin': 'AnyOrigin',
  Vary: 'VaryByEncoding',
  Link: 'Link',
} as const

const REASONS = Object.keys(PROBLEMS) as ErrorReason[]

interface DescribedResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Default: all errors of the status. */
  readonly reasons?: readonly ErrorReason[]
  /** Default: the messages of the errors. */
  readonly description?: string
  /** Default: JSON. */
  readonly mediaType?: string
  /** Default: the errors. */
  readonly content?: oas31.MediaTypeObject
}

/** All responses but the 200s. 405 has two, by the kind of path. */
const RESPONSES = {
  NotModified: {
    status: 304,
    headers: DOCUMENT_HEADERS,
    description: 'The document still has the ETag in If-None-Match.',
  },
  CanonicalHost: {
    status: 308,
    headers: { Location: 'Location' },
    description: REDIRECT_TERMS,
    mediaType: 'text/html',
    content: {
      schema: { type: 'string', pattern: '<a href="' },
      examples: { moved: toReference('examples', 'moved') },
    },
  },
  InvalidRequest: {
    status: 400,
    headers: ENDPOINT_HEADERS,
    description: 'The body, or the address in it, is not valid. `error.hint` says how to correct it.',
  },
  NotFound: { status: 404, headers: { Link: 'Link' } },
  PostOnly: { status: 405, headers: { Allow: 'AllowPost', ...ENDPOINT_HEADERS }, reasons: ['post_only'] },
  ReadOnly: { status: 405, headers: { Allow: 'AllowRead' }, reasons: ['read_only'] },
  BodyTimeout: { status: 408, headers: ENDPOINT_HEADERS },
  BodyTooLarge: { status: 413, headers: ENDPOINT_HEADERS },
  UnsupportedMediaType: { status: 415, headers: ENDPOINT_HEADERS },
  RateLimited: {
    status: 429,
    headers: { 'Retry-After': 'RetryAfter' },
    description: LIMITED_TERMS,
    content: {
      schema: toReference('schemas', 'RateLimitResponse'),
      examples: { rate_limited: toReference('examples', 'rate_limited') },
    },
  },
  ServiceFailure: {
    status: 500,
    description: 'The service failed. It does not confirm that an address was stored.',
  },
} as const satisfies Record<string, DescribedResponse>

/** Refers to responses by status. */
export function toResponses(...names: (keyof typeof RESPONSES)[]): oas31.ResponsesObject {
  return Object.fromEntries(names.map((name) => [RESPONSES[name].status, toReference('responses', name)]))
}

function toResponse(response: DescribedResponse): oas31.ResponseObject {
  const { status, headers, reasons, description, mediaType = 'application/json', content } = response
  const errors = reasons ?? REASONS.filter((reason) => PROBLEMS[reason].status === status)
  const hasContent = content !== undefined || errors.length > 0
  const codes = [...new Set(errors.map((reason) => PROBLEMS[reason].code))]
  // Only the codes of this status, so that a response with another code does not match.
  const narrowed = { type: 'object', properties: { message: { type: 'string', enum: codes } } } as const
  const json = {
    schema: { allOf: [toReference('schemas', 'ErrorResponse'), narrowed] },
    examples: Object.fromEntries(errors.map((reason) => [reason, toReference('examples', reason)])),
  }
  return {
    description: description ?? errors.map((reason) => PROBLEMS[reason].message).join(' '),
    ...(headers && { headers: toHeaders(headers) }),
    ...(hasContent && { content: { [mediaType]: content ?? json } }),
  }
}
