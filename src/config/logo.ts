/** The logo of the site, which is a file next to the site file. */

import { readFileSync, statSync } from 'node:fs'
import { toSystemReason } from '../failure.ts'
import { MAX_LOGO_BYTES } from '../limits.ts'

export interface Logo {
  readonly mediaType: 'image/svg+xml' | 'image/png'
  /** The extension of its name, with the dot. */
  readonly extension: '.svg' | '.png'
  readonly bytes: Uint8Array
}

// PNG, section 5.2.
const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

// The root element, after an XML declaration, comments and a document type.
const SVG_START = /^\uFEFF?\s*(?:<\?[^>]*>\s*|<!--(?:(?!-->)[\s\S])*-->\s*|<![A-Za-z][^>]*>\s*)*<svg[\s>]/

/**
 * Reads a logo. Its type depends on its content, not on its name.
 *
 * @returns the logo, or why the file is not one, for an error message
 */
export function readLogo(file: string): Logo | string {
  const advice = `use the path of an SVG or PNG file of at most ${MAX_LOGO_BYTES} bytes, relative to the folder of the site file`
  try {
    const stats = statSync(file)
    if (!stats.isFile()) return `it is not a file; ${advice}`
    if (stats.size > MAX_LOGO_BYTES) return `it has ${stats.size} bytes; ${advice}`
    const bytes = readFileSync(file)
    if (PNG_SIGNATURE.equals(bytes.subarray(0, 8))) return { mediaType: 'image/png', extension: '.png', bytes }
    if (SVG_START.test(bytes.toString())) return { mediaType: 'image/svg+xml', extension: '.svg', bytes }
    return `it is neither SVG nor PNG; ${advice}`
  } catch (error) {
    return `${toSystemReason(error) ?? 'it cannot be read'}; ${advice}`
  }
}
