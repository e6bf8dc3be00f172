import { DOCUMENTS } from '../routes.ts'

/** Writes robots.txt (RFC 9309): everything may be fetched; the Sitemap line is that of sitemaps.org. */
export function createRobots(baseUrl: string): string {
  return `User-agent: *\nAllow: /\n\nSitemap: ${baseUrl}${DOCUMENTS.sitemap.path}\n`
}
