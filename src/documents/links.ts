/**
 * What leads clients to the documents about the API and the site: links in the headers of responses, the API catalog, and
 * the metadata of the protected resource.
 */

import type { Site } from '../config/site-file.ts'
import { DOCUMENTS, type DocumentName, ENDPOINT, toMediaType } from '../routes.ts'

// service-*: RFC 8631. api-catalog: RFC 9727 section 3. sitemap is not registered, but crawlers know it.
const RELATIONS = [
  ['service-desc', 'openApiJson'],
  ['service-doc', 'llmsTxt'],
  ['api-catalog', 'apiCatalog'],
  ['sitemap', 'sitemap'],
] as const satisfies readonly (readonly [relation: string, name: DocumentName])[]

/** Converts a document to a target, with its media type as a hint (RFC 8288 section 3.4.1). */
function toLinkTarget(name: DocumentName, baseUrl: string) {
  const { path, mediaType } = DOCUMENTS[name]
  return { href: baseUrl + path, type: toMediaType(mediaType) }
}

/**
 * Builds the Link header (RFC 8288 section 3) of pages, documents, errors and redirects. The endpoint has none: its callers
 * have found it, and it gets many requests. Links start with BASE_URL, so a forged Host cannot change them.
 */
export function createLinkField(baseUrl: string): string {
  return RELATIONS.map(([relation, name]) => {
    const { href, type } = toLinkTarget(name, baseUrl)
    return `<${href}>; rel="${relation}"; type="${type}"`
  }).join(', ')
}

/**
 * Builds the API catalog (RFC 9727 section 4): the API of the site and the documents that describe it (RFC 8631), as a
 * set of links (RFC 9264 section 4.2).
 */
export function createApiCatalog(baseUrl: string) {
  const endpoint = baseUrl + ENDPOINT.path
  return {
    linkset: [
      { anchor: baseUrl + DOCUMENTS.apiCatalog.path, item: [{ href: endpoint }] },
      {
        anchor: endpoint,
        'service-desc': [toLinkTarget('openApiJson', baseUrl), toLinkTarget('openApiYaml', baseUrl)],
        'service-doc': [toLinkTarget('llmsTxt', baseUrl)],
        'service-meta': [toLinkTarget('protectedResource', baseUrl)],
      },
    ],
  }
}

/**
 * Builds the protected resource metadata (RFC 9728), which tells clients that they need no token.
 * `authorization_servers` is omitted because there is none.
 */
export function createProtectedResource({ name }: Pick<Site, 'name'>, baseUrl: string) {
  return {
    // Exactly BASE_URL, without a slash, because clients compare strings (section 3.3).
    resource: baseUrl,
    resource_name: name,
    resource_documentation: baseUrl + DOCUMENTS.llmsTxt.path,
    // Section 3.2 says to omit empty members. The public contract requires the empty list, because
    // "there are no scopes" differs from "unknown".
    scopes_supported: [],
  }
}
