/** All documents of a site. */

import type { Config } from '../config/config.ts'
import type { Site } from '../config/site-file.ts'
import { DOCUMENTS, isSecurityContact } from '../routes.ts'
import { createApiCatalog } from './api-catalog.ts'
import type { DailyDocument, Document } from './document.ts'
import { createLlmsTxt } from './llms-txt.ts'
import { createDescription, type DescriptionOptions, toJson, toYaml } from './openapi/description.ts'
import { createProtectedResource } from './protected-resource.ts'
import { createRobots } from './robots.ts'
import { createSecurityTxt } from './security-txt.ts'
import { createSitemap, type IndexedPage } from './sitemap.ts'

/**
 * Creates the documents. Most are built on demand.
 *
 * @param pages the pages of Rollcall itself, for the sitemap
 */
export async function createDocuments(
  config: Pick<Config, 'site' | 'baseUrl' | 'corsOrigins'>,
  pages: readonly IndexedPage[],
): Promise<(Document | DailyDocument)[]> {
  const { site, baseUrl } = config
  const sitemap = await createSitemap([...pages, ...site.pages], baseUrl)
  return [
    { ...DOCUMENTS.openApiJson, body: () => describe(config, 'json') },
    { ...DOCUMENTS.openApiYaml, body: () => describe(config, 'yaml') },
    { ...DOCUMENTS.llmsTxt, body: () => createLlmsTxt(site, baseUrl) },
    ...sitemap.map((file) => ({ ...DOCUMENTS.sitemap, ...file })),
    { ...DOCUMENTS.protectedResource, body: JSON.stringify(createProtectedResource(site, baseUrl)) },
    { ...DOCUMENTS.robots, body: createRobots(baseUrl) },
    { ...DOCUMENTS.apiCatalog, body: JSON.stringify(createApiCatalog(baseUrl)) },
    ...createSecurityDocuments(site, baseUrl),
  ]
}

function describe(config: DescriptionOptions, format: 'json' | 'yaml'): string {
  const description = createDescription(config)
  return format === 'json' ? toJson(description) : toYaml(description)
}

function createSecurityDocuments({ contact, languages }: Site, baseUrl: string): DailyDocument[] {
  if (!isSecurityContact(contact)) return []
  const write = (today: string) => createSecurityTxt({ contact, baseUrl, languages, today })
  return [{ ...DOCUMENTS.securityTxt, write }]
}
