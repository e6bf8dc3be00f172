/** The documents of a site: from its words and the contract to texts, once, at start. */

import type { Config } from '../config/config.ts'
import type { Site } from '../config/site-file.ts'
import type { DailyDocument } from '../http/daily-handler.ts'
import type { Document } from '../http/document-handler.ts'
import { createAccent } from '../page/accent.ts'
import { createFaviconIco, createFaviconSvg, FAVICON_PATH } from '../page/favicon.ts'
import { listPages } from '../page/page-list.ts'
import { DOCUMENTS, isSecurityContact } from '../routes.ts'
import { createApiCatalog } from './api-catalog.ts'
import { createLlmsTxt } from './llms-txt.ts'
import { createDescription, toJson, toYaml } from './openapi/description.ts'
import { createProtectedResource } from './protected-resource.ts'
import { createRobots } from './robots.ts'
import { createSecurityTxt } from './security-txt.ts'
import { createSitemap } from './sitemap.ts'

/** Writes every document. */
export async function createDocuments(
  config: Pick<Config, 'site' | 'baseUrl' | 'corsOrigins'>,
): Promise<(Document | DailyDocument)[]> {
  const { site, baseUrl } = config
  const description = createDescription(config)
  const { light: tile } = createAccent(site.accent)
  const sitemap = await createSitemap([...listPages(site.languages), ...site.pages], baseUrl)
  return [
    { ...DOCUMENTS.openApiJson, body: toJson(description) },
    { ...DOCUMENTS.openApiYaml, body: toYaml(description) },
    { ...DOCUMENTS.llmsTxt, body: createLlmsTxt(site, baseUrl) },
    ...sitemap.map((file) => ({ ...DOCUMENTS.sitemap, ...file })),
    { ...DOCUMENTS.protectedResource, body: JSON.stringify(createProtectedResource(site, baseUrl)) },
    { ...DOCUMENTS.robots, body: createRobots(baseUrl) },
    { ...DOCUMENTS.apiCatalog, body: JSON.stringify(createApiCatalog(baseUrl)) },
    ...createSecurity(site, baseUrl),
    { path: FAVICON_PATH, mediaType: 'image/svg+xml', body: createFaviconSvg(tile) },
    { path: '/favicon.ico', mediaType: 'image/vnd.microsoft.icon', body: createFaviconIco(tile) },
  ]
}

function createSecurity({ contact, languages }: Site, baseUrl: string): DailyDocument[] {
  if (!isSecurityContact(contact)) return []
  const write = (today: string) => createSecurityTxt({ contact, baseUrl, languages, today })
  return [{ ...DOCUMENTS.securityTxt, write }]
}
