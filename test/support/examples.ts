/** Lists the examples of the description. */

import type { oas31 } from 'openapi3-ts'
import { dereference, examplesOf } from './response-check.ts'

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
