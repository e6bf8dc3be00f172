/** The files that the page loads. The name of each file has a hash of its content, so that caches can keep it. */

import { createHash } from 'node:crypto'
import type { Logo } from '../config/logo.ts'
import type { Site } from '../config/site-file.ts'
import type { Document } from '../documents/site-documents.ts'
import { CACHE_CONTROL } from '../routes.ts'
import { createColors, createFavicon, isInTitleFont, isSquare } from './brand.ts'
import { bundlePage } from './bundle.ts'

/** The paths of the files, and the files. */
export interface PageAssets {
  readonly stylesheet: string
  readonly script: string
  /** The logo of the site, if it has one. */
  readonly logo: string | undefined
  /** The icon in the tabs of browsers: the logo if it is square. */
  readonly icon: Pick<Document, 'path' | 'mediaType'>
  /** The icon for home screens, a PNG. */
  readonly touchIcon: string
  /** The font of titles, or undefined if the name has letters that are not in it. */
  readonly font: string | undefined
  readonly documents: readonly Document[]
}

/** Builds the assets. The stylesheet begins with the colors of the site. @throws AggregateError when a source is wrong */
export async function createPageAssets({
  accent,
  logo,
  name,
}: Pick<Site, 'accent' | 'logo' | 'name'>): Promise<PageAssets> {
  const sources = await bundlePage()
  const font = createAsset('title.woff2', 'font/woff2', sources.font)
  const style = createColors(accent) + createFontFace(font.path) + sources.stylesheet
  const stylesheet = createAsset('page.css', 'text/css; charset=utf-8', style)
  const script = createAsset('page.js', 'text/javascript; charset=utf-8', sources.script)
  const letter = { path: '/favicon.svg', mediaType: 'image/svg+xml', body: createFavicon(name, accent) }
  const favicon = { path: '/favicon.ico', mediaType: 'image/vnd.microsoft.icon', body: sources.favicon }
  const image = logo && createLogo(logo)
  const square = logo && isSquare(logo) ? image : undefined
  // iOS reads PNG only.
  const isTouchIcon = square?.mediaType === 'image/png'
  const touchIcon = isTouchIcon ? square : createAsset('touch-icon.png', 'image/png', sources.touchIcon)
  return {
    stylesheet: stylesheet.path,
    script: script.path,
    logo: image?.path,
    icon: square ?? letter,
    touchIcon: touchIcon.path,
    font: isInTitleFont(name) ? font.path : undefined,
    documents: [...new Set([stylesheet, script, font, letter, favicon, touchIcon, ...(image ? [image] : [])])],
  }
}

function createLogo({ extension, mediaType, bytes }: Logo): Document {
  // An SVG may contain styles and scripts. If a browser opens it directly, its scripts must not run in this origin.
  const policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
  return createAsset(`logo${extension}`, mediaType, bytes, { 'Content-Security-Policy': policy })
}

function createAsset(
  name: string,
  mediaType: string,
  body: string | Uint8Array,
  headers: Document['headers'] = {},
): Document {
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 12)
  const path = `/assets/${name.replace('.', `.${hash}.`)}`
  return { path, mediaType, body, headers: { ...headers, 'Cache-Control': CACHE_CONTROL.asset } }
}

function createFontFace(path: string): string {
  return `@font-face{font-family:Title;src:url(${path})format("woff2");font-weight:600;font-display:swap}`
}
