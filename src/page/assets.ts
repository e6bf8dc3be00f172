/** What the page loads: its stylesheet, its script and the owner's logo, each under a name that changes with its content. */

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Site } from '../config/site-file.ts'
import type { Document } from '../documents/document.ts'
import { CACHE_CONTROL } from '../routes.ts'
import { BACKGROUND, createAccent } from './accent.ts'
import { createFaviconIco, createFaviconSvg, FAVICON_PATH } from './favicon.ts'

export interface PageAssets {
  readonly stylesheet: string
  readonly script: string
  /** The owner's logo, or the icon of the site. */
  readonly logo: string
  /** All of them, with the icons of the site. */
  readonly documents: readonly Document[]
}

const FOLDER = join(import.meta.dir, 'assets')

/** Prepares the assets: the sources are bundled and minified, the stylesheet begins with the colours of the site. */
export async function createPageAssets({ accent, logo }: Site): Promise<PageAssets> {
  const [css, script] = await Promise.all([bundle('page.css'), bundle('page.ts')])
  const stylesheet = toAsset('page.css', 'text/css; charset=utf-8', toColours(accent) + css)
  const code = toAsset('page.js', 'text/javascript; charset=utf-8', script)
  const image = logo && toAsset(`logo${logo.extension}`, logo.mediaType, logo.bytes, LOGO_HEADERS)
  return {
    stylesheet: stylesheet.path,
    script: code.path,
    logo: image?.path ?? FAVICON_PATH,
    documents: [stylesheet, code, ...createIcons(accent), ...(image ? [image] : [])],
  }
}

// An SVG may hold styles of its own. Whoever opens it by itself is not to be met by scripts in the site's name.
const LOGO_HEADERS = {
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
}

function createIcons(accent: string): Document[] {
  const { light: tile } = createAccent(accent)
  return [
    { path: FAVICON_PATH, mediaType: 'image/svg+xml', body: createFaviconSvg(tile) },
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

function toAsset(
  name: string,
  mediaType: string,
  body: string | Uint8Array,
  headers: Document['headers'] = {},
): Document {
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 12)
  const path = `/assets/${name.replace('.', `.${hash}.`)}`
  return { path, mediaType, body, headers: { ...headers, 'Cache-Control': CACHE_CONTROL.asset } }
}

function toColours(colour: string): string {
  const accent = createAccent(colour)
  const rule = (theme: keyof typeof BACKGROUND) =>
    `:root{--background:${BACKGROUND[theme]};--accent:${accent[theme]}}`
  return `${rule('light')}@media (prefers-color-scheme:dark){${rule('dark')}}`
}
