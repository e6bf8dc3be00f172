/** The sitemap by sitemaps.org: one file, or an index of several where the protocol's limits ask for it. */

import { Readable } from 'node:stream'
import { ErrorLevel, SitemapIndexStream, SitemapStream, streamToPromise } from 'sitemap'
import { DOCUMENTS } from '../routes.ts'

/** A page that may be indexed. */
export interface IndexedPage {
  /** Its path under BASE_URL. */
  readonly path: string
  /** The day on which its content last changed, as YYYY-MM-DD. */
  readonly lastmod: string
  /** The paths of all versions by language, this one among them, and that of `x-default`. */
  readonly alternates?: Readonly<Record<string, string>> | undefined
}

/** A file of the sitemap. */
export interface SitemapFile {
  /** Its path under BASE_URL. */
  readonly path: string
  readonly body: string
}

/** The most that a file may hold by the protocol. */
export const SITEMAP_LIMITS = { urls: 50_000, bytes: 50 * 1024 * 1024 } as const

/**
 * Writes the sitemap.
 *
 * @param pages at least one
 * @param baseUrl an origin, without a trailing slash
 * @param limits of a file; an index has room for as many files
 * @returns the file at the path that crawlers are told, then its parts where it is an index
 */
export async function createSitemap(
  pages: readonly IndexedPage[],
  baseUrl: string,
  limits: typeof SITEMAP_LIMITS | { urls: number; bytes: number } = SITEMAP_LIMITS,
): Promise<SitemapFile[]> {
  const { path } = DOCUMENTS.sitemap
  const parts = await writeParts(pages, baseUrl, limits)
  const [only] = parts
  if (only && parts.length === 1) return [{ path, body: only.body }]

  const files = parts.map((part, index) => ({ ...part, path: path.replace('.', `-${index + 1}.`) }))
  const items = files.map(({ path, lastmod }) => ({ url: baseUrl + path, lastmod }))
  const index = await write(items, new SitemapIndexStream({ lastmodDateOnly: true, level: ErrorLevel.THROW }))
  return [{ path, body: index }, ...files.map(({ path, body }) => ({ path, body }))]
}

interface Part {
  readonly body: string
  /** The latest of its pages. */
  readonly lastmod: string
}

/** Writes the pages into one file, or, where that would be too much, each half of them by itself. */
async function writeParts(
  pages: readonly IndexedPage[],
  baseUrl: string,
  limits: { readonly urls: number; readonly bytes: number },
): Promise<Part[]> {
  if (pages.length <= limits.urls) {
    const body = await writeUrls(pages, baseUrl)
    if (Buffer.byteLength(body) <= limits.bytes || pages.length === 1)
      return [{ body, lastmod: latest(pages) }]
  }
  const middle = Math.ceil(pages.length / 2)
  const first = await writeParts(pages.slice(0, middle), baseUrl, limits)
  return [...first, ...(await writeParts(pages.slice(middle), baseUrl, limits))]
}

function writeUrls(pages: readonly IndexedPage[], baseUrl: string): Promise<string> {
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

function latest(pages: readonly IndexedPage[]): string {
  // As text, days sort by time.
  return (
    pages
      .map(({ lastmod }) => lastmod)
      .toSorted()
      .at(-1) ?? ''
  )
}
