/** The metadata of a protected resource (RFC 9728), by which a client learns that it needs no token. */

import type { Site } from '../config/site-file.ts'
import { DOCUMENTS } from '../routes.ts'

/** What is published at the well-known path; there is no `authorization_servers`, for there is none. */
export interface ProtectedResource {
  /** Exactly BASE_URL, without a slash: a client compares it as a string (RFC 9728 section 3.3). */
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
    // RFC 9728 section 3.2 wants members with no elements left out. The public contract promises the
    // empty list, because to a client "there are no scopes" and "not said" are different things.
    scopes_supported: [],
  }
}
