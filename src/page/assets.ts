/** The files that the page loads. The name of each file has a hash of its content, so that caches can keep it. */

import { createHash } from 'node:crypto'
import type { Site } from '../config/site-file.ts'
import type { Document } from '../documents/document.ts'
import { CACHE_CONTROL } from '../routes.ts'
import { BACKGROUND, createAccent } from './accent.ts'
import { bundlePage } from './bundle.ts'
import { createFaviconIco, createFaviconSvg, FAVICON_PATH } from './favicon.ts'
import { isInTitleFont } from './title-font.ts'
import { createTouchIcon } from './touch-icon.ts'

export interface PageAssets {
  readonly stylesheet: string
  readonly script: string
  /** The path of the logo of the site, or of the icon if there is no logo. */
  readonly logo: string
  /** The path of the icon for home screens, a PNG. */
  readonly touchIcon: string
  /** The path of the font of titles, or undefined if the name has letters that are not in it. */
  readonly font: string | undefined
  /** All files, including the icons. */
  readonly documents: readonly Document[]
}

/** Builds the assets. The stylesheet begins with the colours of the site. */
export async function createPageAssets({ accent, logo, name }: Site): Promise<PageAssets> {
  const sources = await bundlePage()
  const font = createAsset('title.woff2', 'font/woff2', sources.font)
  const style = createColours(accent) + createFontFace(font.path) + sources.stylesheet
  const stylesheet = createAsset('page.css', 'text/css; charset=utf-8', style)
  const code = createAsset('page.js', 'text/javascript; charset=utf-8', sources.script)
  const image = logo && createAsset(`logo${logo.extension}`, logo.mediaType, logo.bytes, LOGO_HEADERS)
  const touchIcon =
    image?.mediaType === 'image/png'
      ? image
      : createAsset('touch-icon.png', 'image/png', createTouchIcon(createAccent(accent).light))
  return {
    stylesheet: stylesheet.path,
    script: code.path,
    logo: image?.path ?? FAVICON_PATH,
    touchIcon: touchIcon.path,
    font: isInTitleFont(name) ? font.path : undefined,
    documents: [
      ...new Set([stylesheet, code, font, ...createIcons(name, accent), touchIcon, ...(image ? [image] : [])]),
    ],
  }
}

// An SVG may contain styles and scripts. If a browser opens it directly, its scripts must not run in this origin.
const LOGO_HEADERS = {
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
}

function createIcons(name: string, accent: string): Document[] {
  const { light: tile } = createAccent(accent)
  return [
    { path: FAVICON_PATH, mediaType: 'image/svg+xml', body: createFaviconSvg(name, tile) },
    { path: '/favicon.ico', mediaType: 'image/vnd.microsoft.icon', body: createFaviconIco(tile) },
  ]
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

function createColours(colour: string): string {
  const accent = createAccent(colour)
  const rule = (theme: keyof typeof BACKGROUND) => `:root{--background:${BACKGROUND[theme]};--accent:${accent[theme]}}`
  return `${rule('light')}@media (prefers-color-scheme:dark){${rule('dark')}}`
}

function createFontFace(path: string): string {
  return `@font-face{font-family:Title;src:url(${path})format("woff2");font-weight:600;font-display:swap}`
}
