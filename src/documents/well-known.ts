/** The short documents: robots.txt and the metadata of the protected resource. */

import type { Site } from '../config/site-file.ts'
import { DOCUMENTS } from '../routes.ts'

/** Builds robots.txt (RFC 9309). It allows everything and names the sitemap (sitemaps.org). */
export function createRobots(baseUrl: string): string {
  return `User-agent: *\nAllow: /\n\nSitemap: ${baseUrl}${DOCUMENTS.sitemap.path}\n`
}

/**
 * Builds the protected resource metadata (RFC 9728), which tells clients that they need no token.
 * `authorization_servers` is omitted because there is none.
 */
export function createProtectedResource({ name }: Pick<Site, 'name'>, baseUrl: string) {
  return {
    // Exactly BASE_URL, without a slash, because clients compare strings (section 3.3).
    resource: baseUrl,
    resource_name: name,
    resource_documentation: baseUrl + DOCUMENTS.llmsTxt.path,
    // Section 3.2 says to omit empty members. The public contract requires the empty list, because
    // "there are no scopes" differs from "unknown".
    scopes_supported: [],
  }
}
