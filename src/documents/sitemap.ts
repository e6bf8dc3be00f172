/** For crawlers: robots.txt, and the sitemap (sitemaps.org) with the versions of a page in other languages. */

import { DOCUMENTS } from '../routes.ts'

/** An indexable page. */
export interface IndexedPage {
  /** The path below BASE_URL. */
  readonly path: string
  /** The day on which the content last changed, as YYYY-MM-DD. */
  readonly lastmod: string
  /** The paths of all versions by language, including this one and `x-default`. */
  readonly alternates?: Readonly<Record<string, string>> | undefined
}

/** Builds robots.txt (RFC 9309). It allows everything and names the sitemap (sitemaps.org). */
export function createRobots(baseUrl: string): string {
  return `User-agent: *\nAllow: /\n\nSitemap: ${baseUrl}${DOCUMENTS.sitemap.path}\n`
}

/** Builds the sitemap. @param baseUrl an origin, without a trailing slash */
export function createSitemap(pages: readonly IndexedPage[], baseUrl: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">
${pages.map((page) => createEntry(page, baseUrl)).join('')}</urlset>
`
}

function createEntry({ path, lastmod, alternates = {} }: IndexedPage, baseUrl: string): string {
  const links = Object.entries(alternates).map(
    ([language, version]) =>
      `    <xhtml:link rel="alternate" hreflang="${language}" href="${Bun.escapeHTML(baseUrl + version)}"/>\n`,
  )
  return `  <url>
    <loc>${Bun.escapeHTML(baseUrl + path)}</loc>
    <lastmod>${lastmod}</lastmod>
${links.join('')}  </url>
`
}
