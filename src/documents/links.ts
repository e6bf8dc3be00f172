/** Links from any response to the documents that describe the API and the site. */

import { DOCUMENTS, type DocumentName } from '../routes.ts'

/** The target of a link. */
export interface LinkTarget {
  readonly href: string
  /** The media type without parameters, as a hint for the client (RFC 8288 section 3.4.1). */
  readonly type: string
}

// service-*: RFC 8631. api-catalog: RFC 9727 section 3. describedby: IANA link relations registry. sitemap is not
// registered, but it is the name that crawlers know (microformats.org, existing rel values).
const RELATIONS = [
  ['service-desc', 'openApiJson'],
  ['service-doc', 'llmsTxt'],
  ['describedby', 'llmsTxt'],
  ['api-catalog', 'apiCatalog'],
  ['sitemap', 'sitemap'],
] as const satisfies readonly (readonly [relation: string, name: DocumentName])[]

/** Converts a document of the site to the target of a link. */
export function toLinkTarget(name: DocumentName, baseUrl: string): LinkTarget {
  const { path, mediaType } = DOCUMENTS[name]
  return { href: baseUrl + path, type: mediaType.replace(/;.*$/, '') }
}

/** Builds the Link header (RFC 8288 section 3) of pages, documents and 404 responses. */
export function createLinkField(baseUrl: string): string {
  return RELATIONS.map(([relation, name]) => {
    const { href, type } = toLinkTarget(name, baseUrl)
    return `<${href}>; rel="${relation}"; type="${type}"`
  }).join(', ')
}
