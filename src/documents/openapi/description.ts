/** The public contract as an OpenAPI 3.1 description. */

import type { oas31 } from 'openapi3-ts'
import { stringify } from 'yaml'
import type { Site } from '../../config/site-file.ts'
import { parseAddress } from '../../email.ts'
import { DOCUMENTS, ENDPOINT } from '../../routes.ts'
import { createComponents } from './components.ts'
import { createDocumentPaths, DOCUMENTS_TAG } from './document-operations.ts'
import type { Head } from './document-schemas.ts'
import { createSubscribePath, NEWSLETTER_TAG } from './subscribe-operation.ts'

/** The settings that the description depends on. A Config has all of them. */
export interface DescriptionOptions {
  readonly site: Site
  /** An origin, without a trailing slash. */
  readonly baseUrl: string
  /** If there are any, the description includes the preflight. */
  readonly corsOrigins: readonly string[]
}

/** Builds the description of a site (OpenAPI Specification 3.1.0). */
export function createDescription({ site, baseUrl, corsOrigins }: DescriptionOptions): oas31.OpenAPIObject {
  const head: Head = {
    openapi: '3.1.0',
    info: {
      title: site.name,
      version: '1.0.0',
      description: site.description,
      contact: toContact(site),
      license: site.license,
    },
    servers: [{ url: baseUrl }],
  }
  return {
    ...head,
    externalDocs: { description: DOCUMENTS.llmsTxt.title, url: baseUrl + DOCUMENTS.llmsTxt.path },
    tags: [NEWSLETTER_TAG, DOCUMENTS_TAG],
    paths: {
      [ENDPOINT.path]: createSubscribePath(site, corsOrigins),
      ...createDocumentPaths(site, baseUrl, head),
    },
    components: createComponents(baseUrl),
  }
}

/** Converts a description to JSON. */
export function toJson(description: oas31.OpenAPIObject): string {
  return `${JSON.stringify(description, null, 2)}\n`
}

/** Converts a description to YAML, without aliases, because some OpenAPI tools do not resolve them. */
export function toYaml(description: oas31.OpenAPIObject): string {
  return stringify(description, { aliasDuplicateObjects: false, lineWidth: 0 })
}

/** Converts the contact of a site: a mailto URL to its address, any other URL as it is. */
function toContact({ name, contact }: Site): oas31.ContactObject {
  if (!contact) return { name }
  if (!contact.startsWith('mailto:')) return { name, url: contact }
  const parsed = parseAddress(decodePath(new URL(contact).pathname))
  return parsed.ok ? { name, email: parsed.value } : { name }
}

function decodePath(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}
