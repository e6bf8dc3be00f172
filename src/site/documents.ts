/** The documents of a site: from its words and the contract to texts, once, at start. */

import type { Config } from '../config.ts'
import { createDescription, toJson, toYaml } from '../contract/openapi.ts'
import { DOCUMENTS } from '../contract/paths.ts'
import { createProtectedResource } from '../contract/protected-resource.ts'
import type { Document } from '../http/documents.ts'

/** Writes every document. */
export function createDocuments(config: Pick<Config, 'site' | 'baseUrl' | 'corsOrigins'>): Document[] {
  const { site, baseUrl } = config
  const description = createDescription(config)
  return [
    { ...DOCUMENTS.openApiJson, body: toJson(description) },
    { ...DOCUMENTS.openApiYaml, body: toYaml(description) },
    { ...DOCUMENTS.protectedResource, body: JSON.stringify(createProtectedResource(site, baseUrl)) },
  ]
}
