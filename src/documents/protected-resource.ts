/** Protected resource metadata (RFC 9728). It tells clients that they need no token. */

import type { Site } from '../config/site-file.ts'
import { DOCUMENTS } from '../routes.ts'

/** The metadata. `authorization_servers` is omitted because there is none. */
export interface ProtectedResource {
  /** Exactly BASE_URL, without a slash, because clients compare strings (RFC 9728 section 3.3). */
  readonly resource: string
  readonly resource_name: string
  readonly resource_documentation: string
  readonly scopes_supported: readonly []
}

/** Builds the metadata of a site. */
export function createProtectedResource(site: Site, baseUrl: string): ProtectedResource {
  return {
    resource: baseUrl,
    resource_name: site.name,
    resource_documentation: baseUrl + DOCUMENTS.llmsTxt.path,
    // RFC 9728 section 3.2 says to omit empty members. The public contract requires the empty list, because
    // "there are no scopes" differs from "unknown".
    scopes_supported: [],
  }
}
