/** The schema and an example of each document. */

import type { oas31 } from 'openapi3-ts'
import { stringify } from 'yaml'
import type { Site } from '../../config/site-file.ts'
import type { DocumentName } from '../../routes.ts'
import { createApiCatalog, type Linkset } from '../api-catalog.ts'
import { createLlmsHeading } from '../llms-txt.ts'
import { createProtectedResource } from '../protected-resource.ts'
import { createRobots } from '../robots.ts'
import { createSecurityTxt } from '../security-txt.ts'

/** The start of the description, which is also its own example. */
export type Head = Pick<oas31.OpenAPIObject, 'openapi' | 'info' | 'servers'>

/** The date in examples. */
const EXAMPLE_DAY = '2026-01-01'

/** For a site without a contact. Its description omits security.txt. */
const EXAMPLE_CONTACT = 'mailto:name@example.org'

/** Builds the schema and an example of each document. The examples of long documents are shortened. */
export function createContents(site: Site, baseUrl: string, head: Head): Record<DocumentName, oas31.MediaTypeObject> {
  const description = { ...head, paths: {} }
  const { contact = EXAMPLE_CONTACT, languages } = site
  const catalog = createApiCatalog(baseUrl)
  return {
    openApiJson: { schema: createOpenApiSchema(head.openapi), example: description },
    openApiYaml: createText('^openapi: ', stringify(description)),
    llmsTxt: createText('^# ', createLlmsHeading(site)),
    sitemap: createText('^<\\?xml ', createSitemapExample(baseUrl)),
    protectedResource: createConstant(createProtectedResource(site, baseUrl)),
    robots: createText('^User-agent: ', createRobots(baseUrl)),
    apiCatalog: { schema: createLinksetSchema(catalog), example: catalog },
    securityTxt: createText('^Contact: ', createSecurityTxt({ contact, baseUrl, languages, today: EXAMPLE_DAY })),
  }
}

function createText(pattern: string, example: string): oas31.MediaTypeObject {
  return { schema: { type: 'string', pattern }, example }
}

function createOpenApiSchema(version: string): oas31.SchemaObject {
  return {
    type: 'object',
    required: ['openapi', 'info', 'servers', 'paths'],
    properties: {
      openapi: { type: 'string', const: version },
      info: { type: 'object', additionalProperties: true },
      servers: { type: 'array', maxItems: 1, items: { type: 'object', additionalProperties: true } },
      paths: { type: 'object', additionalProperties: true },
    },
    additionalProperties: true,
  }
}

/** Describes an object of fixed strings and empty lists. Nothing else matches its schema. */
function createConstant(example: object): oas31.MediaTypeObject {
  const members = Object.entries(example).map(([name, value]) => [
    name,
    typeof value === 'string'
      ? { type: 'string', const: value }
      : { type: 'array', maxItems: 0, items: { type: 'string' } },
  ])
  return {
    schema: {
      type: 'object',
      required: Object.keys(example),
      additionalProperties: false,
      properties: Object.fromEntries(members),
    },
    example,
  }
}

function createSitemapExample(baseUrl: string): string {
  const page = `${baseUrl}/`
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">
  <url>
    <loc>${page}</loc>
    <lastmod>${EXAMPLE_DAY}</lastmod>
    <xhtml:link rel="alternate" hreflang="x-default" href="${page}"/>
  </url>
</urlset>
`
}

/**
 * Describes a set of links (RFC 9264 section 4.2): contexts with an anchor and, for each relation type, its targets. It
 * names the relation types. An open set of lists next to the string `anchor` has no type in TypeScript, and generators
 * write types that do not compile.
 */
function createLinksetSchema({ linkset }: Linkset): oas31.SchemaObject {
  const relations = linkset.flatMap(({ anchor: _anchor, ...targets }) => Object.keys(targets))
  return {
    type: 'object',
    required: ['linkset'],
    additionalProperties: false,
    properties: {
      linkset: {
        type: 'array',
        minItems: 1,
        maxItems: linkset.length,
        items: {
          type: 'object',
          required: ['anchor'],
          additionalProperties: false,
          properties: { anchor: URI, ...Object.fromEntries(relations.map((relation) => [relation, TARGETS])) },
        },
      },
    },
  }
}

const URI: oas31.SchemaObject = { type: 'string', format: 'uri' }

const TARGETS: oas31.SchemaObject = {
  type: 'array',
  minItems: 1,
  maxItems: 2,
  items: {
    type: 'object',
    required: ['href'],
    additionalProperties: false,
    properties: { href: URI, type: { type: 'string', pattern: '^[a-z]+/[a-z+]+$' } },
  },
}
