/** The operations of the endpoint. */

import type { oas31 } from 'openapi3-ts'
import type { Site } from '../../config/site-file.ts'
import { ALLOW, ENDPOINT, PREFLIGHT_OPERATION_ID } from '../../routes.ts'
import { BODY_TERMS, createTerms } from '../terms.ts'
import { toReference } from './reference.ts'
import { toResponse } from './responses.ts'

/** The tag of the operations here. */
export const NEWSLETTER_TAG: oas31.TagObject = { name: 'Newsletter', description: 'Joining the list.' }

/** Builds the path item of the endpoint; a preflight is in it only where some origin may make one. */
export function createSubscribePath(site: Site, corsOrigins: readonly string[]): oas31.PathItemObject {
  return {
    post: createSubscribe(site),
    ...(corsOrigins.length > 0 && { options: createPreflight(corsOrigins) }),
  }
}

function createSubscribe(site: Site): oas31.OperationObject {
  const { kept, open, repeatable, sandbox, many } = createTerms(site)
  return {
    operationId: ENDPOINT.operationId,
    tags: [NEWSLETTER_TAG.name],
    summary: 'Add an email address to the list',
    description: [kept, open, repeatable, sandbox, many].join('\n\n'),
    security: [],
    requestBody: {
      description: BODY_TERMS,
      required: true,
      content: {
        [ENDPOINT.mediaType]: {
          schema: toReference('schemas', 'Subscription'),
          examples: REQUESTS,
        },
      },
    },
    responses: {
      '200': toResponse('Accepted'),
      '308': toResponse('OtherHost'),
      '400': toResponse('InvalidRequest'),
      '404': toResponse('NoSuchPath'),
      '405': toResponse('PostOnly'),
      '408': toResponse('SlowBody'),
      '413': toResponse('LargeBody'),
      '415': toResponse('OtherMediaType'),
      '500': toResponse('Failed'),
    },
  }
}

const REQUESTS: oas31.ExamplesObject = {
  plain: { summary: 'All that is needed', value: { email: 'name@example.org' } },
  tagged: { summary: 'Tags and dots are kept', value: { email: 'first.last+news@mail.example' } },
  other_members: {
    summary: 'Members besides the address are ignored',
    value: { email: 'name@example.net', source: 'footer' },
  },
}

function createPreflight(corsOrigins: readonly string[]): oas31.OperationObject {
  const origins = corsOrigins.includes('*') ? 'any origin' : corsOrigins.join(', ')
  return {
    operationId: PREFLIGHT_OPERATION_ID,
    tags: [NEWSLETTER_TAG.name],
    summary: 'Ask as a browser whether a page may post here',
    description: `Pages of ${origins} may. Browsers ask this by themselves (the CORS protocol); other callers have no need of it.`,
    security: [],
    parameters: [
      toAsked(
        'Origin',
        'The origin of the page.',
        corsOrigins.find((origin) => origin !== '*'),
      ),
      toAsked('Access-Control-Request-Method', 'The method that the page wants to use.', ALLOW.post_only),
    ],
    responses: {
      '204': { description: 'The page may post here.', headers: PREFLIGHT_HEADERS },
      '308': toResponse('OtherHost'),
      '404': toResponse('NoSuchPath'),
      '405': toResponse('PostOnly'),
      '500': toResponse('Failed'),
    },
  }
}

const PREFLIGHT_HEADERS: oas31.HeadersObject = {
  'Access-Control-Allow-Origin': toGranted('The origin of the page, or `*`.', '*'),
  'Access-Control-Allow-Methods': toGranted('The methods that a page may use.', ALLOW.post_only),
  'Access-Control-Allow-Headers': toGranted('The headers that a page may set.', 'Content-Type'),
}

function toGranted(description: string, example: string): oas31.HeaderObject {
  return { description, required: true, schema: { type: 'string', minLength: 1 }, example }
}

function toAsked(name: string, description: string, example = 'https://www.example.org') {
  const schema = { type: 'string' } as const
  return { name, in: 'header', description, schema, example } as const satisfies oas31.ParameterObject
}
