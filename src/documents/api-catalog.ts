import { DOCUMENTS, ENDPOINT } from '../routes.ts'
import { type LinkTarget, toLinkTarget } from './links.ts'

/** A set of links as JSON (RFC 9264 section 4.2): for each context, its targets by relation type. */
export interface Linkset {
  readonly linkset: readonly LinkContext[]
}

interface LinkContext {
  readonly anchor: string
  readonly [relation: string]: string | readonly Partial<LinkTarget>[]
}

/** Builds the API catalog (RFC 9727 section 4): the API of the site and the documents that describe it (RFC 8631). */
export function createApiCatalog(baseUrl: string): Linkset {
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
