/** The description in tests: checks responses against it, and lists its examples. A response that is not declared is an error. */

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { oas31 } from 'openapi3-ts'

/** A response, with its request. */
export interface Answer {
  readonly method: string
  /** As it was sent. The query is ignored. */
  readonly path: string
  readonly status: number
  readonly headers: Headers
  /** Decoded. Empty if there is no body. */
  readonly body: string | Uint8Array
}

/** Throws if the response is not declared. */
export type AnswerCheck = (answer: Answer) => void

/** Checks a response against one declared response. Returns the problem, if any. */
type ResponseCheck = (answer: Answer) => string | undefined

/** The checks of an operation, by status. */
type OperationCheck = ReadonlyMap<number, ResponseCheck>

/** Creates an Ajv for the schemas of a description: JSON Schema 2020-12, with formats, without unknown keywords. */
export function createAjv(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, validateFormats: true })
  addFormats.default(ajv)
  return ajv
}

/** Replaces every reference by its target. References to the same target share one object. */
export function dereference<T>(description: oas31.OpenAPIObject): T {
  const targets = new Map<string, unknown>()
  const replace = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(replace)
    if (typeof node !== 'object' || node === null) return node
    if ('$ref' in node && typeof node.$ref === 'string') return follow(node.$ref)
    return Object.fromEntries(Object.entries(node).map(([name, member]) => [name, replace(member)]))
  }
  const follow = (pointer: string): unknown => {
    if (!targets.has(pointer)) targets.set(pointer, replace(findTarget(description, pointer)))
    return targets.get(pointer)
  }
  return replace(description) as T
}

/** Lists the examples of a body with their names. A single example has the name `example`. */
export function examplesOf({ example, examples = {} }: oas31.MediaTypeObject): [string, unknown][] {
  const named = Object.entries(examples as Record<string, oas31.ExampleObject>)
  return [
    ...(example === undefined ? [] : [['example', example] as [string, unknown]]),
    ...named.map(([name, { value }]): [string, unknown] => [name, value]),
  ]
}

/**
 * Creates a check for all responses.
 *
 * HEAD is like GET without a body. A method that a path does not declare must get the 405 of that path, and a path
 * that is not declared must get the 404 of the others. A redirect to the canonical host is possible everywhere. A
 * required header must be present, and a declared header must be valid.
 */
export function createAnswerCheck(description: oas31.OpenAPIObject): AnswerCheck {
  const { paths = {} } = dereference<oas31.OpenAPIObject>(description)
  const toCheck = createResponseChecks()
  const known = new Map(Object.entries(paths).map(([path, item]) => [path, toChecks(item, toCheck)]))
  const anywhere = [...(known.values().next().value?.values() ?? [])][0]
  const elsewhere = only(anywhere, 308, 404)

  return (answer) => {
    const methods = known.get(answer.path.replace(/[?#].*$/s, ''))
    const operation = methods ? toOperation(methods, answer.method) : elsewhere
    const check = operation.get(answer.status)
    const problem = check ? check(answer) : `the status is not one of ${[...operation.keys()].join(', ')}`
    if (problem) throw new Error(`${answer.method} ${answer.path} answered ${answer.status}: ${problem}`)
  }
}

function toOperation(methods: ReadonlyMap<string, OperationCheck>, method: string): OperationCheck {
  const operation = methods.get(method) ?? (method === 'HEAD' ? methods.get('GET') : undefined)
  return operation ?? only([...methods.values()][0], 308, 405)
}

function only(operation: OperationCheck = new Map(), ...statuses: number[]): OperationCheck {
  return new Map([...operation].filter(([status]) => statuses.includes(status)))
}

function toChecks(
  item: oas31.PathItemObject,
  toCheck: (response: oas31.ResponseObject) => ResponseCheck,
): Map<string, OperationCheck> {
  return new Map(
    Object.entries(item).map(([method, { responses }]: [string, oas31.OperationObject]) => [
      method.toUpperCase(),
      new Map(Object.entries(responses ?? {}).map(([status, response]) => [Number(status), toCheck(response)])),
    ]),
  )
}

function createResponseChecks(): (response: oas31.ResponseObject) => ResponseCheck {
  const ajv = createAjv()
  const checks = new Map<oas31.ResponseObject, ResponseCheck>()
  return (response) => {
    const check = checks.get(response) ?? createResponseCheck(ajv, response)
    checks.set(response, check)
    return check
  }
}

function createResponseCheck(ajv: Ajv2020, response: oas31.ResponseObject): ResponseCheck {
  const headers = createHeaderChecks(ajv, response)
  const bodies = new Map(
    Object.entries(response.content ?? {}).map(([mediaType, { schema }]) => [
      toMediaType(mediaType),
      ajv.compile(schema ?? {}),
    ]),
  )
  return (answer) => {
    for (const check of headers) {
      const problem = check(answer)
      if (problem) return problem
    }
    return checkBody(answer, bodies)
  }
}

function createHeaderChecks(ajv: Ajv2020, { headers = {} }: oas31.ResponseObject): ResponseCheck[] {
  return Object.entries(headers as Record<string, oas31.HeaderObject>).map(([name, header]) => {
    const validate = ajv.compile(header.schema ?? {})
    return (answer) => {
      const value = answer.headers.get(name)
      if (value === null) return header.required ? `the header ${name} is missing` : undefined
      return validate(value) ? undefined : `the header ${name} is "${value}": ${toText(validate)}`
    }
  })
}

function checkBody(answer: Answer, bodies: ReadonlyMap<string, ValidateFunction>): string | undefined {
  const body = typeof answer.body === 'string' ? answer.body : new TextDecoder().decode(answer.body)
  const sent = answer.headers.get('content-type')
  if (bodies.size === 0) {
    return body || sent !== null ? `there is a body or a media type, "${sent}", but none is declared` : undefined
  }
  const validate = bodies.get(toMediaType(sent ?? ''))
  if (!validate) return `the media type is "${sent}", but ${[...bodies.keys()].join(', ')} is declared`
  if (answer.method === 'HEAD') return body ? 'the response to HEAD has a body' : undefined
  if (!/^[^;]*[/+]json(;|$)/.test(sent ?? '')) return checkValue(validate, body)
  try {
    return checkValue(validate, JSON.parse(body))
  } catch {
    return 'the body is not JSON'
  }
}

function checkValue(validate: ValidateFunction, value: unknown): string | undefined {
  return validate(value) ? undefined : `the body does not match its schema: ${toText(validate)}`
}

function toText({ errors }: ValidateFunction): string {
  return (errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`.trim()).join(', ')
}

/** Removes white space and lowers case, except in a quoted parameter (RFC 9110 section 8.3.1). */
function toMediaType(text: string): string {
  return text.replace(/"[^"]*"|[^"]+/g, (part) =>
    part.startsWith('"') ? part : part.toLowerCase().replace(/\s+/g, ''),
  )
}

/** Finds the target of a JSON Pointer (RFC 6901). */
function findTarget(description: oas31.OpenAPIObject, pointer: string): unknown {
  let node: unknown = description
  for (const step of pointer.split('/').slice(1)) {
    node = (node as Record<string, unknown>)[step.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  if (node === undefined) throw new Error(`${pointer} has no target`)
  return node
}

/** An operation of the description. */
export interface Operation {
  readonly method: string
  readonly path: string
}

/** An example of a response. */
export interface AnswerExample extends Operation {
  readonly status: number
  /** The name of the example, or the status if there is no body. */
  readonly name: string
  /** Undefined if there is no body. */
  readonly value: unknown
}

/** An example of a request. */
export interface RequestExample extends Operation {
  readonly mediaType: string
  readonly name: string
  readonly value: unknown
}

/** Lists every example of every response, and every response without one. */
export function listAnswers(description: oas31.OpenAPIObject): AnswerExample[] {
  return listOperations(description).flatMap(({ responses = {}, ...operation }) =>
    Object.entries(responses as Record<string, oas31.ResponseObject>).flatMap(([status, { content }]) => {
      const examples = content ? Object.values(content).flatMap(examplesOf) : [[status, undefined] as const]
      return examples.map(([name, value]) => ({ ...operation, status: Number(status), name, value }))
    }),
  )
}

/** Lists every example of every request. */
export function listRequests(description: oas31.OpenAPIObject): RequestExample[] {
  return listOperations(description).flatMap(({ requestBody, ...operation }) =>
    Object.entries(requestBody?.content ?? {}).flatMap(([mediaType, media]) =>
      examplesOf(media).map(([name, value]) => ({ ...operation, mediaType, name, value })),
    ),
  )
}

interface FullOperation extends Operation {
  readonly responses: oas31.ResponsesObject | undefined
  readonly requestBody: oas31.RequestBodyObject | undefined
}

function listOperations(description: oas31.OpenAPIObject): FullOperation[] {
  const { paths = {} } = dereference<oas31.OpenAPIObject>(description)
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, oas31.OperationObject>).map(([method, { responses, requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      responses,
      requestBody: requestBody as oas31.RequestBodyObject | undefined,
    })),
  )
}
