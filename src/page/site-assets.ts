/** The style of the page, and the files that it loads. The name of each file has a hash of its content, so that caches can keep it. */

import { createHash } from 'node:crypto'
import type { Picture } from '../config/picture.ts'
import type { Site } from '../config/site-file.ts'
import { toTexts } from '../config/texts.ts'
import type { Document } from '../documents/site-documents.ts'
import { CACHE_CONTROL } from '../routes.ts'
import { type Accent, createColors, createFavicon, isSquare, toCardText, toInitial, toLabel, toSize } from './brand.ts'
import { bundlePage } from './bundle.ts'
import { CARD, type Drawing, draw, TOUCH_ICON } from './card.ts'

/** The style, the paths of the files, and the files. */
export interface PageAssets {
  /** The style in every page. It is not a file, so that the first paint waits for one response only. */
  readonly style: string
  readonly script: string
  /** The logo of the site, if it has one. */
  readonly logo: string | undefined
  /** The icon in the tabs of browsers: the logo if it is square. */
  readonly icon: Pick<Document, 'path' | 'mediaType'>
  /** The icon for home screens, a PNG. */
  readonly touchIcon: string
  /** The card of each name of the site: the picture of a link to the page. */
  readonly cards: ReadonlyMap<string, Card>
  /** The font of titles. */
  readonly font: string
  readonly documents: readonly Document[]
}

/** A PNG. Its size is unknown if the owner's file does not say it. */
export interface Card {
  readonly path: string
  readonly width?: number
  readonly height?: number
}

type AssetsOptions = Pick<Site, 'accent' | 'card' | 'languages' | 'logo' | 'name' | 'words'>

/** Builds the assets. The style begins with the colors of the site. @throws AggregateError when a source is wrong */
export async function createPageAssets(site: AssetsOptions): Promise<PageAssets> {
  const { accent, logo, name } = site
  const sources = await bundlePage()
  const font = createAsset('title.woff2', 'font/woff2', sources.font)
  const script = createAsset('page.js', 'text/javascript; charset=utf-8', sources.script)
  const letter = { path: '/favicon.svg', mediaType: 'image/svg+xml', body: () => createFavicon(name, accent.light) }
  const image = logo && createLogo(logo)
  const square = logo && isSquare(logo) ? image : undefined
  // iOS reads PNG only.
  const touchIcon =
    square?.mediaType === 'image/png'
      ? square
      : createDrawing('touch-icon.png', accent, { ...TOUCH_ICON, text: toCardText(toInitial(name)) })
  // For programs that read no SVG. The path is a convention, so it has no hash.
  const favicon = { ...touchIcon, path: '/favicon.ico', headers: {} }
  const cards = createCards(site)
  return {
    style: createColors(accent) + createFontFace(font.path) + sources.stylesheet,
    script: script.path,
    logo: image?.path,
    icon: square ?? letter,
    touchIcon: touchIcon.path,
    cards,
    font: font.path,
    documents: [...new Set([script, font, letter, favicon, touchIcon, ...cards.values(), ...(image ? [image] : [])])],
  }
}

function createLogo({ mediaType, bytes }: Picture): Document {
  // An SVG may contain styles and scripts. If a browser opens it directly, its scripts must not run in this origin.
  const policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
  return createAsset(mediaType === 'image/png' ? 'logo.png' : 'logo.svg', mediaType, bytes, {
    'Content-Security-Policy': policy,
  })
}

/** Creates the cards, by the name of the site in each language. The owner's card is that of every name. */
function createCards(site: AssetsOptions): Map<string, Card & Document> {
  const { card, languages } = site
  const own = card && { ...createAsset('card.png', card.mediaType, card.bytes), ...toSize(card) }
  const names = languages.map((language) => toTexts(site, language).name.text)
  return new Map(names.map((name) => [name, own ?? createDrawnCard(name, site)]))
}

function createDrawnCard(name: string, { accent, logo }: AssetsOptions): Card & Document {
  const text = toCardText(name)
  if (text === undefined && logo) return createDrawing('card.png', accent, { ...CARD, logo })
  return createDrawing('card.png', accent, { ...CARD, text: text ?? toCardText(toInitial(name)) })
}

/** Creates a picture on the accent. It is drawn at the first request. Its path has a hash of what it shows. */
function createDrawing(file: string, accent: Accent, shown: Omit<Drawing, 'fill' | 'label'>): Card & Document {
  const drawing = { ...shown, fill: accent.light, label: toLabel(accent.light) }
  const asset = createAsset(file, 'image/png', JSON.stringify(drawing))
  return { ...asset, width: shown.width, height: shown.height, body: () => draw(drawing) }
}

function createAsset(
  name: string,
  mediaType: string,
  body: string | Uint8Array,
  headers: Document['headers'] = {},
): Document {
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 12)
  const path = `/assets/${name.replace('.', `.${hash}.`)}`
  return { path, mediaType, body: () => body, headers: { ...headers, 'Cache-Control': CACHE_CONTROL.asset } }
}

/** A font that is late shows at the next visit only: in another font, some names take another line, and the form would move. */
function createFontFace(path: string): string {
  return `@font-face{font-family:Title;src:url(${path})format("woff2");font-weight:600;font-display:optional}`
}
