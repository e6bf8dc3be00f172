/** The public contract as an OpenAPI 3.1 description: its head and its operations. */

import type { oas31 } from 'openapi3-ts'
import type { Config } from '../../config/config.ts'
import type { Site } from '../../config/site-file.ts'
import { parseAddress } from '../../email.ts'
import { DOCUMENT_NAMES, DOCUMENTS, type DocumentName, ENDPOINT, toMediaType } from '../../routes.ts'
import { createApiCatalog, createProtectedResource } from '../links.ts'
import { createLlmsHeading } from '../llms-txt.ts'
import { createRobots, createSitemap } from '../sitemap.ts'
import { ACCEPTED_TERMS, BODY_TERMS, createTerms } from '../terms.ts'
import {
  createComponents,
  DOCUMENT_HEADERS,
  ENDPOINT_HEADERS,
  mapValues,
  toConstant,
  toHeaders,
  toObjectSchema,
  toReference,
  toResponses,
} from './components.ts'

const OPENAPI_VERSION = '3.1.0'

const NEWSLETTER: oas31.TagObject = { name: 'Newsletter', description: 'Subscribe to the list.' }
const FOR_MACHINES: oas31.TagObject = {
  name: 'Documents',
  description: 'Documents for machines. HEAD works like GET, without the body.',
}

/**
 * Builds the description of a site (OpenAPI Specification 3.1.0): the endpoint and all documents. What only browsers ask for is
 * not in it: pages, the files that they load, and CORS preflights.
 */
export function createDescription({ site, baseUrl }: Pick<Config, 'site' | 'baseUrl'>): oas31.OpenAPIObject {
  const { name: title, description, license } = site
  const contact = toContact(site)
  const head: oas31.OpenAPIObject = {
    openapi: OPENAPI_VERSION,
    info: { title, version: '1.0.0', description, ...(contact && { contact }), ...(license && { license }) },
    servers: [{ url: baseUrl }],
    security: [],
  }
  const contents = createContents(site, baseUrl, { ...head, paths: {} })
  const toPath = (name: DocumentName) => [DOCUMENTS[name].path, { get: createReadOperation(name, contents[name]) }]
  return {
    ...head,
    externalDocs: { description: DOCUMENTS.llmsTxt.title, url: baseUrl + DOCUMENTS.llmsTxt.path },
    tags: [NEWSLETTER, FOR_MACHINES],
    paths: {
      [ENDPOINT.path]: { post: createPostOperation(site) },
      ...Object.fromEntries(DOCUMENT_NAMES.map(toPath)),
    },
    components: createComponents(baseUrl),
  }
}

/** Converts a description to YAML, without aliases, because some OpenAPI tools do not resolve them. */
export function toYaml(description: oas31.OpenAPIObject): string {
  // Loaded here, because a start without a site file needs no YAML.
  const { stringify } = require('yaml') as typeof import('yaml')
  return stringify(description, { aliasDuplicateObjects: false, lineWidth: 0 })
}

/** Converts the contact of a site: a mailto URL of one address to the address, any other URL as it is. */
function toContact({ name, contact }: Site): oas31.ContactObject | undefined {
  if (!contact) return undefined
  const address = parseAddress(/^mailto:([^?%]+)(?:\?|$)/i.exec(contact)?.[1])
  return address.ok ? { name, email: address.value } : { name, url: contact }
}

function createPostOperation(site: Site): oas31.OperationObject {
  return {
    operationId: ENDPOINT.operationId,
    tags: [NEWSLETTER.name],
    summary: 'Add an email address to the list',
    description: createTerms(site).join('\n\n'),
    security: [],
    requestBody: {
      description: BODY_TERMS,
      required: true,
      content: { [ENDPOINT.mediaType]: { schema: toReference('schemas', 'Subscription'), examples: REQUESTS } },
    },
    responses: {
      // Not a component, because swagger-typescript-api does not follow a reference to it.
      '200': {
        description: ACCEPTED_TERMS,
        headers: toHeaders(ENDPOINT_HEADERS),
        content: {
          [ENDPOINT.mediaType]: {
            schema: toReference('schemas', 'Accepted'),
            examples: { accepted: toReference('examples', 'accepted') },
          },
        },
      },
      ...toResponses('CanonicalHost', 'InvalidRequest', 'NotFound', 'PostOnly'),
      ...toResponses('BodyTimeout', 'BodyTooLarge', 'UnsupportedMediaType', 'RateLimited', 'ServiceFailure'),
    },
  }
}

const REQUESTS: oas31.ExamplesObject = {
  plain: { summary: 'An address is enough', value: { email: 'name@example.org' } },
  tagged: { summary: 'Tags and dots are kept', value: { email: 'first.last+news@mail.example' } },
  other_members: { summary: 'Other members are ignored', value: { email: 'name@example.net', source: 'footer' } },
}

function createReadOperation(name: DocumentName, content: oas31.MediaTypeObject): oas31.OperationObject {
  const { operationId, mediaType, title, summary } = DOCUMENTS[name]
  return {
    operationId,
    tags: [FOR_MACHINES.name],
    summary: title,
    description: summary,
    security: [],
    parameters: [toReference('parameters', 'IfNoneMatch')],
    responses: {
      '200': {
        description: 'The document.',
        headers: toHeaders(DOCUMENT_HEADERS),
        content: { [toMediaType(mediaType)]: content },
      },
      ...toResponses('NotModified', 'CanonicalHost', 'NotFound', 'ReadOnly', 'ServiceFailure'),
    },
  }
}

/** Builds the schema and an example of each document. The examples of long documents are shortened. */
function createContents(
  site: Site,
  baseUrl: string,
  description: oas31.OpenAPIObject,
): Record<DocumentName, oas31.MediaTypeObject> {
  const toText = (pattern: string, example: string) => ({ schema: { type: 'string', pattern }, example }) as const
  const home = { path: '/', lastmod: '2026-01-01', alternates: { 'x-default': '/' } }
  const metadata = createProtectedResource(site, baseUrl)
  const catalog = createApiCatalog(baseUrl)
  return {
    openApiJson: { schema: DescriptionSchema, example: description },
    openApiYaml: toText('^openapi: ', toYaml(description)),
    llmsTxt: toText('^# ', createLlmsHeading(site)),
    sitemap: toText('^<\\?xml ', createSitemap([home], baseUrl)),
    protectedResource: { schema: createMetadataSchema(metadata), example: metadata },
    robots: toText('^User-agent: ', createRobots(baseUrl)),
    apiCatalog: { schema: createLinksetSchema(catalog), example: catalog },
  }
}

const AnyObject: oas31.SchemaObject = { type: 'object', additionalProperties: true }

const DescriptionSchema: oas31.SchemaObject = {
  ...toObjectSchema({
    openapi: toConstant(OPENAPI_VERSION),
    info: AnyObject,
    servers: { type: 'array', maxItems: 1, items: AnyObject },
    paths: AnyObject,
  }),
  additionalProperties: true,
}

function createMetadataSchema({ scopes_supported: _, ...texts }: ReturnType<typeof createProtectedResource>) {
  const noScopes: oas31.SchemaObject = { type: 'array', maxItems: 0, items: { type: 'string' } }
  return toObjectSchema({ ...mapValues(texts, toConstant), scopes_supported: noScopes })
}

/**
 * Describes a set of links. It names the relation types: an open set of lists next to the string `anchor` has no type in
 * TypeScript, so the clients that generators write would not compile.
 */
function createLinksetSchema({ linkset }: ReturnType<typeof createApiCatalog>): oas31.SchemaObject {
  const uri: oas31.SchemaObject = { type: 'string', format: 'uri' }
  const target = toObjectSchema({ href: uri, type: { type: 'string', pattern: '^[a-z]+/[a-z+]+$' } })
  const targets = { type: 'array', minItems: 1, maxItems: 2, items: { ...target, required: ['href'] } } as const
  const relations = linkset.flatMap(({ anchor: _, ...others }) => Object.keys(others))
  const context = toObjectSchema({ anchor: uri, ...Object.fromEntries(relations.map((name) => [name, targets])) })
  const items = { ...context, required: ['anchor'] }
  return toObjectSchema({ linkset: { type: 'array', minItems: 1, maxItems: linkset.length, items } })
}
