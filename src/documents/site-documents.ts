/** All documents of a site. */

import type { Config } from '../config/config.ts'
import { DOCUMENTS, isSecurityContact } from '../routes.ts'
import type { DailyDocument, Document } from './document.ts'
import { createApiCatalog } from './links.ts'
import { createLlmsTxt } from './llms-txt.ts'
import { createDescription, toYaml } from './openapi/description.ts'
import { createSitemap, type IndexedPage } from './sitemap.ts'
import { createProtectedResource, createRobots, createSecurityTxt } from './well-known.ts'

/**
 * Creates the documents. The description and the guide are built at their first request.
 *
 * @param pages the pages of Rollcall itself, for the sitemap
 * @throws UsageError if the sitemap is too large
 */
export function createDocuments(
  config: Pick<Config, 'site' | 'baseUrl' | 'corsOrigins'>,
  pages: readonly IndexedPage[],
): (Document | DailyDocument)[] {
  const { site, baseUrl } = config
  const { contact } = site
  const documents = [
    { ...DOCUMENTS.openApiJson, body: () => JSON.stringify(createDescription(config)) },
    { ...DOCUMENTS.openApiYaml, body: () => toYaml(createDescription(config)) },
    { ...DOCUMENTS.llmsTxt, body: () => createLlmsTxt(site, baseUrl) },
    { ...DOCUMENTS.sitemap, body: createSitemap([...pages, ...site.pages], baseUrl) },
    { ...DOCUMENTS.protectedResource, body: JSON.stringify(createProtectedResource(site, baseUrl)) },
    { ...DOCUMENTS.robots, body: createRobots(baseUrl) },
    { ...DOCUMENTS.apiCatalog, body: JSON.stringify(createApiCatalog(baseUrl)) },
  ]
  if (!isSecurityContact(contact)) return documents
  const write = (today: string) => createSecurityTxt(contact, baseUrl, today)
  return [...documents, { ...DOCUMENTS.securityTxt, write }]
}
