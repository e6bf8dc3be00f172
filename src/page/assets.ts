/** The files that the page loads. The name of each file has a hash of its content, so that caches can keep it. */

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Site } from '../config/site-file.ts'
import type { Document } from '../documents/document.ts'
import { CACHE_CONTROL } from '../routes.ts'
import { BACKGROUND, createAccent } from './accent.ts'
import { createFaviconIco, createFaviconSvg, FAVICON_PATH } from './favicon.ts'
import { isInTitleFont, readTitleFont } from './title-font.ts'
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

const FOLDER = join(import.meta.dir, 'assets')

/** Builds the assets: bundles and minifies the sources, and adds the colours of the site to the stylesheet. */
export async function createPageAssets({ accent, logo, name }: Site): Promise<PageAssets> {
  const [css, script, title] = await Promise.all([bundle('page.css'), bundle('page.ts'), readTitleFont()])
  const font = createAsset('title.woff2', 'font/woff2', title)
  const style = createColours(accent) + createFontFace(font.path) + css
  const stylesheet = createAsset('page.css', 'text/css; charset=utf-8', style)
  const code = createAsset('page.js', 'text/javascript; charset=utf-8', script)
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

async function bundle(source: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(FOLDER, source)],
    minify: true,
    target: 'browser',
  })
  const texts = await Promise.all(outputs.map((output) => output.text()))
  return texts.join('')
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
