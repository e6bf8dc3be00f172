/** The operations of the endpoint. */

import type { oas31 } from 'openapi3-ts'
import type { Site } from '../../config/site-file.ts'
import { ALLOW, ENDPOINT, PREFLIGHT_OPERATION_ID } from '../../routes.ts'
import { BODY_TERMS, createTerms } from '../terms.ts'
import { toReference } from './reference.ts'
import { ACCEPTED, toResponse } from './responses.ts'

export const NEWSLETTER_TAG: oas31.TagObject = { name: 'Newsletter', description: 'Subscribe to the list.' }

/** Builds the path item of the endpoint. It includes the preflight only if CORS is on. */
export function createSubscribePath(site: Site, corsOrigins: readonly string[]): oas31.PathItemObject {
  return {
    post: createSubscribe(site),
    ...(corsOrigins.length > 0 && { options: createPreflight(corsOrigins) }),
  }
}

function createSubscribe(site: Site): oas31.OperationObject {
  return {
    operationId: ENDPOINT.operationId,
    tags: [NEWSLETTER_TAG.name],
    summary: 'Add an email address to the list',
    description: createTerms(site).join('\n\n'),
    security: [],
    requestBody: {
      description: BODY_TERMS,
      required: true,
      content: {
        [ENDPOINT.mediaType]: { schema: toReference('schemas', 'Subscription'), examples: REQUESTS },
      },
    },
    responses: {
      '200': ACCEPTED,
      '308': toResponse('CanonicalHost'),
      '400': toResponse('InvalidRequest'),
      '404': toResponse('NotFound'),
      '405': toResponse('PostOnly'),
      '408': toResponse('BodyTimeout'),
      '413': toResponse('BodyTooLarge'),
      '415': toResponse('UnsupportedMediaType'),
      '500': toResponse('ServiceFailure'),
    },
  }
}

const REQUESTS: oas31.ExamplesObject = {
  plain: { summary: 'An address is enough', value: { email: 'name@example.org' } },
  tagged: { summary: 'Tags and dots are kept', value: { email: 'first.last+news@mail.example' } },
  other_members: {
    summary: 'Other members are ignored',
    value: { email: 'name@example.net', source: 'footer' },
  },
}

function createPreflight(corsOrigins: readonly string[]): oas31.OperationObject {
  const origins = corsOrigins.includes('*') ? 'any origin' : corsOrigins.join(', ')
  const origin = corsOrigins.find((candidate) => candidate !== '*') ?? 'https://www.example.org'
  return {
    operationId: PREFLIGHT_OPERATION_ID,
    tags: [NEWSLETTER_TAG.name],
    summary: 'Ask whether a page may call the endpoint',
    description: `Pages of ${origins} may call the endpoint. Browsers send this CORS preflight themselves; other clients do not need it.`,
    security: [],
    parameters: [
      createRequestHeader('Origin', 'The origin of the page.', origin),
      createRequestHeader('Access-Control-Request-Method', 'The method of the call.', ALLOW.post_only),
    ],
    responses: {
      '204': { description: 'The page may call the endpoint.', headers: PREFLIGHT_HEADERS },
      '308': toResponse('CanonicalHost'),
      '404': toResponse('NotFound'),
      '405': toResponse('PostOnly'),
      '500': toResponse('ServiceFailure'),
    },
  }
}

const PREFLIGHT_HEADERS: oas31.HeadersObject = {
  'Access-Control-Allow-Origin': createResponseHeader('The origin of the page, or `*`.', '*'),
  'Access-Control-Allow-Methods': createResponseHeader('The methods that a page may use.', ALLOW.post_only),
  'Access-Control-Allow-Headers': createResponseHeader('The headers that a page may set.', 'Content-Type'),
}

function createResponseHeader(description: string, example: string): oas31.HeaderObject {
  return { description, required: true, schema: { type: 'string', minLength: 1 }, example }
}

function createRequestHeader(name: string, description: string, example: string): oas31.ParameterObject {
  return { name, in: 'header', description, schema: { type: 'string' }, example }
}
