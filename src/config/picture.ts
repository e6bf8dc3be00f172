/** The pictures of the site, which are files next to the site file: its logo, and its card, which links to the page show. */

import { readFileSync, statSync } from 'node:fs'
import { toSystemReason } from '../failure.ts'
import { MAX_PICTURE_BYTES } from '../limits.ts'

export interface Picture {
  readonly mediaType: 'image/svg+xml' | 'image/png'
  readonly bytes: Uint8Array
}

// PNG, section 5.2.
const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

// The root element, after an XML declaration, comments and a document type.
const SVG_START = /^\uFEFF?\s*(?:<\?[^>]*>\s*|<!--(?:(?!-->)[\s\S])*-->\s*|<![A-Za-z][^>]*>\s*)*<svg[\s>]/

const TYPES = { logo: 'an SVG or PNG file', card: 'a PNG file' } as const

/**
 * Reads a picture. Its type depends on its content, not on its name. A card is PNG, because social networks read no SVG.
 *
 * @returns the picture, or why the file is not one, for an error message
 */
export function readPicture(use: 'logo' | 'card', file: string): Picture | string {
  const advice = `use the path of ${TYPES[use]} of at most ${MAX_PICTURE_BYTES[use]} bytes, relative to the folder of the site file`
  try {
    const stats = statSync(file)
    if (!stats.isFile()) return `it is not a file; ${advice}`
    if (stats.size > MAX_PICTURE_BYTES[use]) return `it has ${stats.size} bytes; ${advice}`
    const bytes = readFileSync(file)
    if (PNG_SIGNATURE.equals(bytes.subarray(0, 8))) return { mediaType: 'image/png', bytes }
    if (use === 'logo' && SVG_START.test(bytes.toString())) return { mediaType: 'image/svg+xml', bytes }
    return `it is ${use === 'logo' ? 'neither SVG nor' : 'not'} PNG; ${advice}`
  } catch (error) {
    return `${toSystemReason(error) ?? 'it cannot be read'}; ${advice}`
  }
}
