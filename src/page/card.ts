/** Pictures that the service draws: the card of a link to the page, and the icon for home screens. */

import type { Picture } from '../config/picture.ts'

/** The size in pixels of a card, which social networks show without a cut, and of its largest text. */
export const CARD = { width: 1200, height: 630, maxSize: 170 } as const

/** The same of the icon, as iOS asks for it. */
export const TOUCH_ICON = { width: 180, height: 180, maxSize: 120 } as const

/** A text; without one, a logo; without either, an envelope. */
export interface Drawing {
  readonly width: number
  readonly height: number
  /** The largest size of the text in pixels. */
  readonly maxSize: number
  /** The color of the background: `#rrggbb`. */
  readonly fill: string
  /** See `toCardText`. */
  readonly text?: string | undefined
  readonly logo?: Picture | undefined
}

/**
 * Draws a picture on a thread of its own, because it takes some hundred milliseconds. The memory of the thread is freed.
 *
 * @returns a PNG file
 * @throws Error when it cannot be drawn
 */
export function draw(drawing: Drawing): Promise<Uint8Array> {
  const worker = new Worker(new URL('./card-worker.ts', import.meta.url).href)
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  worker.onmessage = ({ data }: MessageEvent<Uint8Array>) => resolve(data)
  worker.onerror = ({ message }) => reject(new Error(`a picture cannot be drawn: ${message}`))
  worker.postMessage(drawing)
  return promise.finally(() => worker.terminate())
}
