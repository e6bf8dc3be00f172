/** Links to the documents that describe the API and the site: in the headers of responses, and as the API catalog. */

import { DOCUMENTS, type DocumentName, ENDPOINT } from '../routes.ts'

// service-*: RFC 8631. api-catalog: RFC 9727 section 3. sitemap is not registered, but crawlers know it.
const RELATIONS = [
  ['service-desc', 'openApiJson'],
  ['service-doc', 'llmsTxt'],
  ['api-catalog', 'apiCatalog'],
  ['sitemap', 'sitemap'],
] as const satisfies readonly (readonly [relation: string, name: DocumentName])[]

/** Converts a document to a target, with the media type without parameters as a hint (RFC 8288 section 3.4.1). */
function toLinkTarget(name: DocumentName, baseUrl: string) {
  const { path, mediaType } = DOCUMENTS[name]
  return { href: baseUrl + path, type: mediaType.replace(/;.*$/, '') }
}

/**
 * Builds the Link header (RFC 8288 section 3) of pages, documents and 404 responses. The endpoint has none: its callers
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
