/** The public contract as an OpenAPI 3.1 description: its head and its operations. */

import type { oas31 } from 'openapi3-ts'
import { stringify } from 'yaml'
import type { Config } from '../../config/config.ts'
import type { Site } from '../../config/site-file.ts'
import { EXAMPLE_BODY } from '../../errors.ts'
import { DOCUMENT_NAMES, DOCUMENTS, type DocumentName, ENDPOINT, toMediaType } from '../../routes.ts'
import { createApiCatalog, createProtectedResource } from '../links.ts'
import { createLlmsHeading } from '../llms-txt.ts'
import { createRobots, createSitemap } from '../sitemap.ts'
import { ACCEPTED_TERMS, BODY_TERMS, createTerms } from '../terms.ts'
import {
  createComponents,
  DOCUMENT_HEADERS,
  mapValues,
  toConstant,
  toHeaders,
  toObjectSchema,
  toReference,
  toResponses,
  UNCACHED,
} from './components.ts'

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
  const { name, description, license, contact } = site
  const head: oas31.OpenAPIObject = {
    openapi: '3.1.0',
    info: {
      title: name,
      version: '1.0.0',
      description,
      ...(contact && { contact: { name, url: contact } }),
      ...(license && { license }),
    },
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
  return stringify(description, { aliasDuplicateObjects: false, lineWidth: 0 })
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
      content: {
        [ENDPOINT.mediaType]: { schema: toReference('schemas', 'Subscription'), example: JSON.parse(EXAMPLE_BODY) },
      },
    },
    responses: {
      // Not a component, because swagger-typescript-api does not follow a reference to it.
      '200': {
        description: ACCEPTED_TERMS,
        headers: toHeaders(UNCACHED),
        content: {
          [ENDPOINT.mediaType]: {
            schema: toReference('schemas', 'Accepted'),
            examples: { accepted: { summary: 'Accepted', value: { ok: true } } },
          },
        },
      },
      ...toResponses('CanonicalHost', 'InvalidRequest', 'NotFound', 'PostOnly'),
      ...toResponses('BodyTimeout', 'BodyTooLarge', 'UnsupportedMediaType', 'RateLimited', 'ServiceFailure'),
    },
  }
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
    openApiJson: { schema: { type: 'object', additionalProperties: true }, example: description },
    openApiYaml: toText('^openapi: ', stringify(description)),
    llmsTxt: toText('^# ', createLlmsHeading(site)),
    sitemap: toText('^<\\?xml ', createSitemap([home], baseUrl)),
    protectedResource: { schema: createMetadataSchema(metadata), example: metadata },
    robots: toText('^User-agent: ', createRobots(baseUrl)),
    apiCatalog: { schema: createLinksetSchema(catalog), example: catalog },
  }
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
  const target = toObjectSchema({ href: uri, type: { type: 'string' } })
  const targets = { type: 'array', items: { ...target, required: ['href'] } } as const
  const relations = linkset.flatMap(({ anchor: _, ...others }) => Object.keys(others))
  const context = toObjectSchema({ anchor: uri, ...Object.fromEntries(relations.map((name) => [name, targets])) })
  return toObjectSchema({ linkset: { type: 'array', items: { ...context, required: ['anchor'] } } })
}
