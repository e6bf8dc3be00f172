/** The sitemap (sitemaps.org), with the versions of a page in other languages. */

import { UsageError } from '../failure.ts'

/** An indexable page. */
export interface IndexedPage {
  /** The path below BASE_URL. */
  readonly path: string
  /** The day on which the content last changed, as YYYY-MM-DD. */
  readonly lastmod: string
  /** The paths of all versions by language, including this one and `x-default`. */
  readonly alternates?: Readonly<Record<string, string>> | undefined
}

/** Maximum size of a sitemap in bytes (sitemaps.org). */
const MAX_BYTES = 50 * 1024 * 1024

/**
 * Builds the sitemap.
 *
 * @param pages at least one, at most MAX_PAGES; the site file checks that
 * @param baseUrl an origin, without a trailing slash
 * @throws UsageError if the sitemap is larger than the protocol allows
 */
export function createSitemap(pages: readonly IndexedPage[], baseUrl: string): string {
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">
${pages.map((page) => createEntry(page, baseUrl)).join('')}</urlset>
`
  if (Buffer.byteLength(text) <= MAX_BYTES) return text
  throw new UsageError(`the sitemap has more than ${MAX_BYTES} bytes: list fewer pages in the site file`)
}

function createEntry({ path, lastmod, alternates = {} }: IndexedPage, baseUrl: string): string {
  const links = Object.entries(alternates).map(
    ([language, version]) =>
      `    <xhtml:link rel="alternate" hreflang="${language}" href="${escapeXml(baseUrl + version)}"/>\n`,
  )
  return `  <url>
    <loc>${escapeXml(baseUrl + path)}</loc>
    <lastmod>${lastmod}</lastmod>
${links.join('')}  </url>
`
}

/** Escapes what a URL may contain. The URL parser has encoded `<`, `>` and `"`. */
function escapeXml(url: string): string {
  return url.replaceAll('&', '&amp;').replaceAll("'", '&apos;')
}
