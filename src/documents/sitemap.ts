/** The sitemap (sitemaps.org): one file, or an index of several files if one would exceed the limits of the protocol. */

import { Readable } from 'node:stream'
import { ErrorLevel, SitemapIndexStream, SitemapStream, streamToPromise } from 'sitemap'
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

interface SitemapFile {
  /** The path below BASE_URL. */
  readonly path: string
  readonly body: string | (() => Promise<string>)
}

/** The limits of one sitemap file (sitemaps.org). */
interface SitemapLimits {
  readonly urls: number
  readonly bytes: number
}

export const SITEMAP_LIMITS: SitemapLimits = { urls: 50_000, bytes: 50 * 1024 * 1024 }

/**
 * Builds the sitemap. One that is in a single file for certain is built on demand.
 *
 * @param pages at least one
 * @param baseUrl an origin, without a trailing slash
 * @returns the file at the published path, then its parts if that file is an index
 */
export async function createSitemap(
  pages: readonly IndexedPage[],
  baseUrl: string,
  limits = SITEMAP_LIMITS,
): Promise<SitemapFile[]> {
  const { path } = DOCUMENTS.sitemap
  if (fitsOneFile(pages, baseUrl, limits)) return [{ path, body: () => createUrlSet(pages, baseUrl) }]
  const parts = await createParts(pages, baseUrl, limits)
  const [first] = parts
  if (first && parts.length === 1) return [{ path, body: first.body }]

  const files = parts.map((part, index) => ({ ...part, path: path.replace('.', `-${index + 1}.`) }))
  const items = files.map(({ path, lastmod }) => ({ url: baseUrl + path, lastmod }))
  const index = await write(items, new SitemapIndexStream({ lastmodDateOnly: true, level: ErrorLevel.THROW }))
  return [{ path, body: index }, ...files.map(({ path, body }) => ({ path, body }))]
}

/** More bytes than the markup of an entry, or of a link in it, has. */
const MAX_MARKUP_BYTES = 200

/** More than the bytes of a character of a path, which is ASCII, when it is escaped. */
const MAX_ESCAPED_BYTES = 6

function fitsOneFile(pages: readonly IndexedPage[], baseUrl: string, limits: SitemapLimits): boolean {
  const toMaxBytes = (path: string) => MAX_MARKUP_BYTES + MAX_ESCAPED_BYTES * (baseUrl.length + path.length)
  let bytes = 0
  for (const { path, alternates = {} } of pages) {
    bytes += toMaxBytes(path)
    for (const [language, version] of Object.entries(alternates)) bytes += toMaxBytes(language + version)
  }
  return pages.length <= limits.urls && bytes <= limits.bytes
}

interface Part {
  readonly body: string
  /** The latest date of its pages. */
  readonly lastmod: string
}

/** Builds one file, or splits the pages in halves until each file is within the limits. */
async function createParts(pages: readonly IndexedPage[], baseUrl: string, limits: SitemapLimits): Promise<Part[]> {
  if (pages.length <= limits.urls) {
    const body = await createUrlSet(pages, baseUrl)
    const isSmallEnough = Buffer.byteLength(body) <= limits.bytes
    if (isSmallEnough || pages.length === 1) return [{ body, lastmod: toLatest(pages) }]
  }
  const middle = Math.ceil(pages.length / 2)
  const first = await createParts(pages.slice(0, middle), baseUrl, limits)
  return [...first, ...(await createParts(pages.slice(middle), baseUrl, limits))]
}

async function createUrlSet(pages: readonly IndexedPage[], baseUrl: string): Promise<string> {
  const items = pages.map(({ path, lastmod, alternates = {} }) => ({
    url: baseUrl + path,
    lastmod,
    links: Object.entries(alternates).map(([lang, path]) => ({ lang, url: baseUrl + path })),
  }))
  const xmlns = { xhtml: true, news: false, image: false, video: false }
  return write(items, new SitemapStream({ xmlns, lastmodDateOnly: true, level: ErrorLevel.THROW }))
}

async function write(items: readonly object[], stream: SitemapStream | SitemapIndexStream): Promise<string> {
  const bytes = await streamToPromise(Readable.from(items).pipe(stream))
  return bytes.toString()
}

/** Returns the latest date. Dates as YYYY-MM-DD sort as text. */
function toLatest(pages: readonly IndexedPage[]): string {
  return pages.reduce((latest, { lastmod }) => (lastmod > latest ? lastmod : latest), '')
}
