/** The short documents: robots.txt, the metadata of the protected resource, and security.txt. */

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

/** Days until security.txt expires. RFC 9116 section 2.5.5 recommends less than a year. */
const VALID_DAYS = 364

/**
 * Builds security.txt (RFC 9116). It is not signed.
 *
 * @param contact see `isSecurityContact`
 * @param now when it is served; all processes write the same text on a day (UTC)
 */
export function createSecurityTxt(contact: string, baseUrl: string, now = new Date()): string {
  const expires = new Date(now)
  expires.setUTCDate(now.getUTCDate() + VALID_DAYS)
  const fields = [`Contact: ${contact}`, `Expires: ${expires.toISOString().slice(0, 10)}T00:00:00Z`]
  // Section 2.5.2: a web address must be https.
  if (baseUrl.startsWith('https:')) fields.push(`Canonical: ${baseUrl}${DOCUMENTS.securityTxt.path}`)
  return `${fields.join('\n')}\n`
}
