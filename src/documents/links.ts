/** The links by which a machine that knows one answer of the service finds what is said of the API. */

import { DOCUMENTS, type DocumentName } from '../routes.ts'

/** A document as the target of a link. */
export interface LinkTarget {
  readonly href: string
  /** The media type without its parameters, a hint to whoever follows (RFC 8288 section 3.4.1). */
  readonly type: string
}

// RFC 8631 for the service-* relations, RFC 9727 section 3 for api-catalog; describedby is in the register of IANA.
const RELATIONS = [
  ['service-desc', 'openApiJson'],
  ['service-doc', 'llmsTxt'],
  ['describedby', 'llmsTxt'],
  ['api-catalog', 'apiCatalog'],
] as const satisfies readonly (readonly [relation: string, name: DocumentName])[]

/** Makes a document of the site the target of a link. */
export function toLinkTarget(name: DocumentName, baseUrl: string): LinkTarget {
  const { path, mediaType } = DOCUMENTS[name]
  return { href: baseUrl + path, type: mediaType.replace(/;.*$/, '') }
}

/** Builds the Link field (RFC 8288 section 3) of pages, documents and the answer to unknown paths. */
export function createLinkField(baseUrl: string): string {
  return RELATIONS.map(([relation, name]) => {
    const { href, type } = toLinkTarget(name, baseUrl)
    return `<${href}>; rel="${relation}"; type="${type}"`
  }).join(', ')
}
