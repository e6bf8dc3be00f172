/**
 * The style of the page, and the files that it loads. The names of all but the favicons have a hash of the content, or of all that a
 * picture is drawn from, so that caches can keep them.
 */

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Picture } from '../config/picture.ts'
import type { Site } from '../config/site-file.ts'
import type { Document } from '../documents/site-documents.ts'
import { toTexts } from '../locales/texts.ts'
import { CACHE_CONTROL } from '../routes.ts'
import { createColors, createFavicon, toInitial, toSize } from './brand.ts'
import { bundlePage } from './bundle.ts'
import { type Subset, toCardText } from './title.ts'

/** A picture with its size in pixels, which is unknown if the owner's file does not say it. */
interface SizedPicture extends Document {
  readonly width?: number
  readonly height?: number
}

/** A picture that Rollcall draws. */
export interface Drawing {
  readonly width: number
  readonly height: number
  /** The largest size of a text in pixels. */
  readonly maxSize: number
  /** The color behind a text: `#rrggbb`. */
  readonly accent: string
  /** A text (see `toCardText`) or a logo, in the middle. */
  readonly content: string | Picture
}

/** The size of a card (the picture of a link to the page), which social networks show without a cut. */
const CARD = { width: 1200, height: 630, maxSize: 170 } as const

/** The size of the icon, as iOS asks for it. */
const TOUCH_ICON = { width: 180, height: 180, maxSize: 120 } as const

/** In the place of a name with letters that the font lacks, without a logo. */
const NO_TEXT = '@'

export type PageAssets = Awaited<ReturnType<typeof createPageAssets>>

/** Builds the assets. The style begins with the colors of the site. @throws AggregateError when a source is wrong */
export async function createPageAssets(site: Site) {
  const { accent, logo, name } = site
  const sources = await bundlePage()
  const createFont = (subset: Subset) => createAsset(`${subset}.woff2`, 'font/woff2', sources[subset])
  const fonts = { latin: createFont('latin'), vietnamese: createFont('vietnamese'), extended: createFont('extended') }
  const script = createAsset('page.js', 'text/javascript; charset=utf-8', sources.script)
  const image = logo && createPicture('logo', logo)
  const portrait = site.portrait && createPicture('portrait', site.portrait)
  // Only a square logo can be an icon. Otherwise the icon is the initial of the name.
  const squareLogo = logo && isSquare(logo) ? logo : undefined
  const initial = { path: '/favicon.svg', mediaType: 'image/svg+xml', body: () => createFavicon(name, accent.light) }
  const icon = squareLogo && image ? image : initial
  const content = squareLogo ?? toCardText(toInitial(name)) ?? NO_TEXT
  const drawing = createDrawing('touch-icon.png', { ...TOUCH_ICON, accent: accent.light, content })
  // iOS reads PNG only.
  const touchIcon = icon.mediaType === 'image/png' ? icon : drawing
  // For programs that read no SVG. The path is a convention, so it has no hash.
  const favicon = { ...touchIcon, path: '/favicon.ico', headers: {} }
  const cards = createCards(site)
  return {
    /** The style in every page. It is not a file, so that the first paint waits for one response only. */
    style: createColors(accent) + sources.stylesheet,
    script,
    fonts,
    logo: image,
    portrait,
    /** The icon in the tabs of browsers: the logo if it is square. */
    icon,
    /** The icon for home screens, a PNG. */
    touchIcon,
    /** The picture of a link to the page, by the name of the site. */
    cards,
    documents: [
      script,
      ...Object.values(fonts),
      icon,
      favicon,
      touchIcon,
      ...cards.values(),
      ...[image, portrait].filter((picture) => picture !== undefined),
    ],
  }
}

function isSquare(picture: Picture): boolean {
  const size = toSize(picture)
  return size !== undefined && size.width === size.height
}

function createPicture(name: string, { mediaType, bytes }: Picture): Document {
  // An SVG may contain styles and scripts. If a browser opens it directly, its scripts must not run in this origin.
  const policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
  // Such as `svg` of `image/svg+xml`.
  const extension = mediaType.replace(/.*\/|\+.*/g, '')
  return createAsset(`${name}.${extension}`, mediaType, bytes, { 'Content-Security-Policy': policy })
}

/** Creates the cards, by the name of the site in each language. The owner's card is that of every name. */
function createCards(site: Site): Map<string, SizedPicture> {
  const { accent, card, languages, logo } = site
  const own = card && { ...createAsset('card.png', card.mediaType, card.bytes), ...toSize(card) }
  const names = languages.map((language) => toTexts(site, language).name.text)
  const toCard = (name: string) => {
    const content = toCardText(name) ?? logo ?? NO_TEXT
    return createDrawing('card.png', { ...CARD, accent: accent.light, content })
  }
  return new Map(names.map((name) => [name, own ?? toCard(name)]))
}

/** Creates a picture that is drawn at the first request. Its path has a hash of what it shows. */
function createDrawing(file: string, drawing: Drawing): SizedPicture {
  const { width, height } = drawing
  return { ...createAsset(file, 'image/png', JSON.stringify(drawing)), width, height, body: () => draw(drawing) }
}

/** Draws on a thread of its own, because it takes some hundred milliseconds. The memory of the thread is freed. */
function draw(drawing: Drawing): Promise<Uint8Array> {
  const worker = new Worker(join(import.meta.dir, 'card-worker.ts'))
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  worker.onmessage = ({ data }: MessageEvent<Uint8Array>) => resolve(data)
  worker.onerror = ({ message }) => reject(new Error(`a picture cannot be drawn: ${message}`))
  worker.postMessage(drawing)
  return promise.finally(() => worker.terminate())
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
