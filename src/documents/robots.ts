import { DOCUMENTS } from '../routes.ts'

/** Builds robots.txt (RFC 9309). It allows everything and names the sitemap (sitemaps.org). */
export function createRobots(baseUrl: string): string {
  return `User-agent: *\nAllow: /\n\nSitemap: ${baseUrl}${DOCUMENTS.sitemap.path}\n`
}
