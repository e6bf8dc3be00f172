/** Holds answers of the running service against the description: whatever is not declared there is a failure. */

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { oas31 } from 'openapi3-ts'

/** An answer, with what was asked. */
export interface Answer {
  readonly method: string
  /** As it was sent; the query is ignored. */
  readonly path: string
  readonly status: number
  readonly headers: Headers
  /** Without its content coding; empty where there was none. */
  readonly body: string | Uint8Array
}

/** Throws when the answer is not declared. */
export type AnswerCheck = (answer: Answer) => void

/** Checks what a declared response is answered with; returns what is wrong. */
type ResponseCheck = (answer: Answer) => string | undefined

/** The checks of an operation, by status. */
type OperationCheck = ReadonlyMap<number, ResponseCheck>

/** An Ajv for the schemas of a description: JSON Schema 2020-12, formats checked, unknown keywords refused. */
export function createAjv(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, validateFormats: true })
  addFormats.default(ajv)
  return ajv
}

/** Replaces every reference by what it points at; what several references share stays one object. */
export function dereference<T>(description: oas31.OpenAPIObject): T {
  const targets = new Map<string, unknown>()
  const replace = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(replace)
    if (typeof node !== 'object' || node === null) return node
    if ('$ref' in node && typeof node.$ref === 'string') return follow(node.$ref)
    return Object.fromEntries(Object.entries(node).map(([name, member]) => [name, replace(member)]))
  }
  const follow = (pointer: string): unknown => {
    if (!targets.has(pointer)) targets.set(pointer, replace(toTarget(description, pointer)))
    return targets.get(pointer)
  }
  return replace(description) as T
}

/** The examples of a body with their names; one that stands alone is called `example`. */
export function examplesOf({ example, examples = {} }: oas31.MediaTypeObject): [string, unknown][] {
  const named = Object.entries(examples as Record<string, oas31.ExampleObject>)
  return [
    ...(example === undefined ? [] : [['example', example] as [string, unknown]]),
    ...named.map(([name, { value }]): [string, unknown] => [name, value]),
  ]
}

/**
 * Prepares the check of every answer.
 *
 * HEAD counts as GET without a body. A method that a path does not declare must get the 405 of that
 * path, and a path that is not declared the 404 of the others; a redirect to the canonical host may
 * come first everywhere. A declared header that is sent must be valid, and a required one must be sent.
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
    const fault = check ? check(answer) : `the status is not one of ${[...operation.keys()].join(', ')}`
    if (fault) throw new Error(`${answer.method} ${answer.path} answered ${answer.status}: ${fault}`)
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
      new Map(
        Object.entries(responses ?? {}).map(([status, response]) => [Number(status), toCheck(response)]),
      ),
    ]),
  )
}

function createResponseChecks(): (response: oas31.ResponseObject) => ResponseCheck {
  const ajv = createAjv()
  const made = new Map<oas31.ResponseObject, ResponseCheck>()
  return (response) => {
    const check = made.get(response) ?? createResponseCheck(ajv, response)
    made.set(response, check)
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
      const fault = check(answer)
      if (fault) return fault
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
    return body || sent !== null
      ? `there is a body, or its media type "${sent}": none is declared`
      : undefined
  }
  const validate = bodies.get(toMediaType(sent ?? ''))
  if (!validate) return `the media type is "${sent}": ${[...bodies.keys()].join(', ')} is declared`
  if (answer.method === 'HEAD') return body ? 'there is a body, to HEAD' : undefined
  if (!/^[^;]*[/+]json(;|$)/.test(sent ?? '')) return toFault(validate, body)
  try {
    return toFault(validate, JSON.parse(body))
  } catch {
    return 'the body is not JSON'
  }
}

function toFault(validate: ValidateFunction, value: unknown): string | undefined {
  return validate(value) ? undefined : `the body is not as declared: ${toText(validate)}`
}

function toText({ errors }: ValidateFunction): string {
  return (errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`.trim()).join(', ')
}

/** Case and white space mean nothing in a media type, save in a quoted parameter (RFC 9110 section 8.3.1). */
function toMediaType(text: string): string {
  return text.replace(/"[^"]*"|[^"]+/g, (part) =>
    part.startsWith('"') ? part : part.toLowerCase().replace(/\s+/g, ''),
  )
}

function toTarget(description: oas31.OpenAPIObject, pointer: string): unknown {
  let node: unknown = description
  for (const step of pointer.split('/').slice(1)) {
    node = (node as Record<string, unknown>)[step.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  if (node === undefined) throw new Error(`${pointer} points at nothing`)
  return node
}
