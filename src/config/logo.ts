/** The owner's logo: a file beside the site file, read once at start. */

import { readFileSync, statSync } from 'node:fs'

export interface Logo {
  readonly mediaType: 'image/svg+xml' | 'image/png'
  /** The end of its name, with the dot. */
  readonly extension: '.svg' | '.png'
  readonly bytes: Uint8Array
}

/** Most bytes of a logo; it is part of every first visit. */
export const MAX_LOGO_BYTES = 64 * 1024

/** Why a file is no logo, as the end of a sentence about it. */
export class LogoError extends Error {}

/**
 * Reads a logo; what it is, its content says and not its name.
 *
 * @throws LogoError when it cannot be read, is too large, or is neither SVG nor PNG
 */
export function readLogo(file: string): Logo {
  const bytes = readLimited(file)
  if (PNG_SIGNATURE.every((byte, index) => bytes[index] === byte)) {
    return { mediaType: 'image/png', extension: '.png', bytes }
  }
  if (SVG_START.test(bytes.toString('utf8'))) return { mediaType: 'image/svg+xml', extension: '.svg', bytes }
  throw new LogoError('give an SVG or PNG file')
}

// PNG, section 5.2.
const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

// The root element, after an XML declaration, comments and a document type.
const SVG_START = /^\uFEFF?\s*(?:<\?[^>]*>\s*|<!--(?:(?!-->)[\s\S])*-->\s*|<![A-Za-z][^>]*>\s*)*<svg[\s>]/

function readLimited(file: string): Buffer {
  let size: number
  try {
    const found = statSync(file)
    size = found.isFile() ? found.size : Number.NaN
    if (size <= MAX_LOGO_BYTES) return readFileSync(file)
  } catch {
    throw new LogoError('there is no such file that can be read')
  }
  throw new LogoError(
    Number.isNaN(size) ? 'give a file' : `it has ${size} bytes; give one of at most ${MAX_LOGO_BYTES}`,
  )
}
