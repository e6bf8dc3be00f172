/** The description in tests: checks responses against it, and lists its examples. A response that is not declared is an error. */

import { Ajv2020 } from 'ajv/dist/2020.js'
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

/** What a description has without references. */
interface Description extends Omit<oas31.OpenAPIObject, 'paths'> {
  readonly paths: Readonly<Record<string, Readonly<Record<string, FullOperation>>>>
}

interface FullOperation extends oas31.OperationObject {
  readonly responses: Readonly<Record<string, FullResponse>>
}

interface FullResponse {
  readonly headers?: Readonly<Record<string, oas31.HeaderObject>>
  readonly content?: oas31.ContentObject
}

/** Creates an Ajv for the schemas of a description: JSON Schema 2020-12, with formats, without unknown keywords. */
export function createAjv(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, validateFormats: true })
  addFormats.default(ajv)
  return ajv
}

/** Replaces every reference by its target. References to the same target share one object. */
export function dereference(description: oas31.OpenAPIObject): Description {
  const targets = new Map<string, unknown>()
  function follow(pointer: string): unknown {
    const target = pointer
      .split('/')
      .slice(1)
      .reduce<unknown>((node, step) => (node as Record<string, unknown>)[step], description)
    if (!targets.has(pointer)) targets.set(pointer, replace(target))
    return targets.get(pointer)
  }
  function replace(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(replace)
    if (typeof node !== 'object' || node === null) return node
    if ('$ref' in node) return follow(String(node.$ref))
    return Object.fromEntries(Object.entries(node).map(([name, member]) => [name, replace(member)]))
  }
  return replace(description) as Description
}

/** Lists the examples of a body with their names. A single example has the name `example`. */
export function examplesOf({ example, examples = {} }: oas31.MediaTypeObject): [string, unknown][] {
  const named = Object.entries(examples as Record<string, oas31.ExampleObject>)
  const single: [string, unknown][] = example === undefined ? [] : [['example', example]]
  return [...single, ...named.map(([name, { value }]): [string, unknown] => [name, value])]
}

/**
 * Creates a check for all responses.
 *
 * HEAD is like GET without a body. A method that a path does not declare must get the 405 of that path, and a path
 * that is not declared must get the 404 of the others. A redirect to the canonical host is possible everywhere. A
 * required header must be present, and a declared header must be valid. A granted CORS preflight is not part of it.
 */
export function createAnswerCheck(description: oas31.OpenAPIObject): AnswerCheck {
  const { paths } = dereference(description)
  const ajv = createAjv()
  return (answer) => {
    if (answer.method === 'OPTIONS' && answer.status === 204 && answer.headers.has('access-control-allow-methods'))
      return
    const responses = findResponses(paths, answer)
    const response = responses[answer.status]
    const problem = response
      ? findProblem(ajv, answer, response)
      : `the status is not one of ${Object.keys(responses).join(', ')}`
    if (problem) throw new Error(`${answer.method} ${answer.path} answered ${answer.status}: ${problem}`)
  }
}

/** The responses that a request may get, by status. */
function findResponses(paths: Description['paths'], { method, path }: Answer): FullOperation['responses'] {
  const item = paths[path.replace(/[?#].*$/s, '')]
  const find = (name: string) => Object.entries(item ?? {}).find(([verb]) => verb.toUpperCase() === name)?.[1]
  const operation = find(method) ?? (method === 'HEAD' ? find('GET') : undefined)
  if (operation) return operation.responses
  const [other] = Object.values(item ?? Object.values(paths)[0] ?? {})
  const statuses = ['308', item ? '405' : '404']
  return Object.fromEntries(Object.entries(other?.responses ?? {}).filter(([status]) => statuses.includes(status)))
}

/** Compares a response with its declaration. Ajv compiles a schema at its first use. */
function findProblem(ajv: Ajv2020, answer: Answer, { headers = {}, content = {} }: FullResponse): string | undefined {
  for (const [name, { required, schema = true }] of Object.entries(headers)) {
    const value = answer.headers.get(name)
    if (value === null && required) return `the header ${name} is missing`
    if (value !== null && !ajv.validate(schema, value)) return `the header ${name} is "${value}": ${ajv.errorsText()}`
  }
  const body = typeof answer.body === 'string' ? answer.body : new TextDecoder().decode(answer.body)
  const sent = answer.headers.get('content-type')
  const declared = Object.keys(content)
  if (declared.length === 0) {
    return body || sent !== null ? `there is a body or a media type, "${sent}", but none is declared` : undefined
  }
  const mediaType = declared.find((name) => name === sent?.replace(/;.*/s, '').trim().toLowerCase())
  if (mediaType === undefined) return `the media type is "${sent}", but ${declared.join(', ')} is declared`
  if (answer.method === 'HEAD') return body ? 'the response to HEAD has a body' : undefined
  const value = /[/+]json$/.test(mediaType) ? parseJson(body) : body
  const { schema = true } = content[mediaType] ?? {}
  return ajv.validate(schema, value) ? undefined : `the body does not match its schema: ${ajv.errorsText()}`
}

/** Returns undefined, which no schema allows, for a text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** An operation of the description. */
export interface Operation {
  readonly method: string
  readonly path: string
}

/** Lists every example of every response, and every response without one: its name is the status then. */
export function listAnswers(description: oas31.OpenAPIObject) {
  const operations = Object.entries(dereference(description).paths).flatMap(([path, item]) =>
    Object.entries(item).map(([verb, { responses }]) => ({ method: verb.toUpperCase(), path, responses })),
  )
  return operations.flatMap(({ responses, ...operation }) =>
    Object.entries(responses).flatMap(([status, { content }]) => {
      const examples = content ? Object.values(content).flatMap(examplesOf) : [[status, undefined] as const]
      return examples.map(([name, value]) => ({ ...operation, status: Number(status), name, value }))
    }),
  )
}
