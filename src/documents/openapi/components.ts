/** The reusable parts: schemas, examples, and the parameter of documents; headers and responses have files of their own. */

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
    schemas: { Subscription, Accepted, Error: Failure, Code },
    responses: createResponses(),
    parameters: { IfNoneMatch },
    examples: createExamples(),
    headers: createHeaders(baseUrl),
  }
}

const Subscription: oas31.SchemaObject = {
  type: 'object',
  description: 'Whom to add to the list. Other members are allowed and ignored.',
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
  description: 'The same for a new and for a known address.',
  required: ['ok'],
  additionalProperties: false,
  properties: { ok: { type: 'boolean', const: true } },
}

const Code: oas31.SchemaObject = {
  type: 'string',
  description: `The stable code of an error; the set is closed. With the statuses it comes with: ${ERROR_CODES.map(toWords).join('; ')}.`,
  enum: [...ERROR_CODES],
}

const Failure: oas31.SchemaObject = {
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
        message: { type: 'string', minLength: 1, description: 'What is wrong, in a sentence.' },
        hint: { type: 'string', minLength: 1, description: 'What to do next.' },
      },
    },
  },
  // JSON Schema cannot say that two members are equal, but it can list the pairs.
  oneOf: ERROR_CODES.map(toPair),
}

const IfNoneMatch: oas31.ParameterObject = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The ETag of the copy at hand; while it is still good, the answer is 304 without a body.',
  schema: { type: 'string' },
  example: ETAG_EXAMPLE,
}

/** One example for each fault, under the fault's name, and one for success. */
function createExamples(): Record<string, oas31.ExampleObject> {
  const faults = Object.entries(PROBLEMS).map(
    ([fault, problem]) => [fault, { summary: problem.message, value: toErrorBody(problem) }] as const,
  )
  return { accepted: { summary: 'Accepted', value: { ok: true } }, ...Object.fromEntries(faults) }
}

function toPair(code: ErrorCode): oas31.SchemaObject {
  const same = { type: 'string', const: code } as const
  return {
    type: 'object',
    required: ['message', 'error'],
    properties: { message: same, error: { type: 'object', required: ['code'], properties: { code: same } } },
  }
}

function toWords(code: ErrorCode): string {
  const statuses = Object.values(PROBLEMS).filter((problem) => problem.code === code)
  return `\`${code}\` ${[...new Set(statuses.map(({ status }) => status))].join(', ')}`
}
