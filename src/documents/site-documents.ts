/** All documents of a site. */

import type { Config } from '../config/config.ts'
import { DOCUMENTS } from '../routes.ts'
import { createApiCatalog, createProtectedResource } from './links.ts'
import { createLlmsTxt } from './llms-txt.ts'
import { createDescription, toYaml } from './openapi/description.ts'
import { createRobots, createSitemap, type IndexedPage } from './sitemap.ts'

/** A read-only resource. */
export interface Document {
  /** The path below BASE_URL. */
  readonly path: string
  readonly mediaType: string
  /** Builds the content, at the first request. */
  readonly body: () => string | Uint8Array | Promise<string | Uint8Array>
  /** Additional headers. They override the headers that all documents have. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Creates the documents. @param pages the pages of Rollcall itself, for the sitemap */
export function createDocuments(config: Pick<Config, 'site' | 'baseUrl'>, pages: readonly IndexedPage[]): Document[] {
  const { site, baseUrl } = config
  return [
    { ...DOCUMENTS.openApiJson, body: () => JSON.stringify(createDescription(config)) },
    { ...DOCUMENTS.openApiYaml, body: () => toYaml(createDescription(config)) },
    { ...DOCUMENTS.llmsTxt, body: () => createLlmsTxt(site, baseUrl) },
    { ...DOCUMENTS.sitemap, body: () => createSitemap([...pages, ...site.pages], baseUrl) },
    { ...DOCUMENTS.protectedResource, body: () => JSON.stringify(createProtectedResource(site, baseUrl)) },
    { ...DOCUMENTS.robots, body: () => createRobots(baseUrl) },
    { ...DOCUMENTS.apiCatalog, body: () => JSON.stringify(createApiCatalog(baseUrl)) },
  ]
}
