/** The components of the description: schemas, examples and the parameter of documents. */

import type { oas31 } from 'openapi3-ts'
import { ADDRESS_PATTERN } from '../../email.ts'
import { ERROR_CODES, type ErrorCode, PROBLEMS, toErrorBody } from '../../errors.ts'
import { MAX_ADDRESS_LENGTH } from '../../limits.ts'
import { EMAIL_TERMS, ERROR_TERMS } from '../terms.ts'
import { createHeaders, ETAG_EXAMPLE } from './headers.ts'
import { toReference } from './reference.ts'
import { createResponses } from './responses.ts'

/** Builds the components. */
export function createComponents(baseUrl: string): oas31.ComponentsObject {
  return {
    schemas: { Subscription, Accepted, Error: ErrorSchema, Code },
    responses: createResponses(),
    parameters: { IfNoneMatch },
    examples: createExamples(),
    headers: createHeaders(baseUrl),
  }
}

const Subscription: oas31.SchemaObject = {
  type: 'object',
  description: 'The address to add to the list. Other members are allowed and ignored.',
  required: ['email'],
  additionalProperties: true,
  properties: {
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
  type: 'object',
  description: 'The same for a new and a known address.',
  required: ['ok'],
  additionalProperties: false,
  properties: { ok: { type: 'boolean', const: true } },
}

const Code: oas31.SchemaObject = {
  type: 'string',
  description: `The stable code of an error, from a closed set. Codes and their statuses: ${ERROR_CODES.map(toText).join('; ')}.`,
  enum: [...ERROR_CODES],
}

/** A sentence or two for people and models. */
const TEXT: oas31.SchemaObject = { type: 'string', minLength: 1, maxLength: 300 }

const ErrorSchema: oas31.SchemaObject = {
  type: 'object',
  description: ERROR_TERMS,
  required: ['ok', 'message', 'error'],
  additionalProperties: false,
  properties: {
    ok: { type: 'boolean', const: false },
    message: toReference('schemas', 'Code'),
    error: {
      type: 'object',
      required: ['code', 'message', 'hint'],
      additionalProperties: false,
      properties: {
        code: toReference('schemas', 'Code'),
        message: { ...TEXT, description: 'What is wrong.' },
        hint: { ...TEXT, description: 'What to do next.' },
      },
    },
  },
  // JSON Schema cannot require two members to be equal, so this lists the pairs.
  oneOf: ERROR_CODES.map(createPair),
}

const IfNoneMatch: oas31.ParameterObject = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The ETag of your copy. If the document has not changed, the response is 304 without a body.',
  schema: { type: 'string' },
  example: ETAG_EXAMPLE,
}

/** Builds an example for each reason, named after it, and one for success. */
function createExamples(): Record<string, oas31.ExampleObject> {
  const errors = Object.entries(PROBLEMS).map(
    ([reason, problem]) => [reason, { summary: problem.message, value: toErrorBody(problem) }] as const,
  )
  return { accepted: { summary: 'Accepted', value: { ok: true } }, ...Object.fromEntries(errors) }
}

function createPair(code: ErrorCode): oas31.SchemaObject {
  const constant = { type: 'string', const: code } as const
  return {
    type: 'object',
    required: ['message', 'error'],
    properties: {
      message: constant,
      error: { type: 'object', required: ['code'], properties: { code: constant } },
    },
  }
}

function toText(code: ErrorCode): string {
  const problems = Object.values(PROBLEMS).filter((problem) => problem.code === code)
  return `\`${code}\` ${[...new Set(problems.map(({ status }) => status))].join(', ')}`
}
