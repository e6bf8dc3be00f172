/** The owner's logo: a file beside the site file, read once at start. */

import { readFileSync, statSync } from 'node:fs'
import type { Result } from '../result.ts'

export interface Logo {
  readonly mediaType: 'image/svg+xml' | 'image/png'
  /** The end of its name, with the dot. */
  readonly extension: '.svg' | '.png'
  readonly bytes: Uint8Array
}

/** Most bytes of a logo; it is part of every first visit. */
export const MAX_LOGO_BYTES = 64 * 1024

/**
 * Reads a logo. Its content decides what it is, not its name.
 *
 * @returns why the file is no logo, as the end of a sentence: it cannot be read, is too large, or is neither SVG nor PNG
 */
export function readLogo(file: string): Result<Logo, string> {
  const read = readLimited(file)
  if (!read.ok) return read
  const bytes = read.value
  if (PNG_SIGNATURE.every((byte, index) => bytes[index] === byte)) {
    return { ok: true, value: { mediaType: 'image/png', extension: '.png', bytes } }
  }
  if (SVG_START.test(bytes.toString('utf8'))) {
    return { ok: true, value: { mediaType: 'image/svg+xml', extension: '.svg', bytes } }
  }
  return { ok: false, reason: 'give an SVG or PNG file' }
}

// PNG, section 5.2.
const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

// The root element, after an XML declaration, comments and a document type.
const SVG_START = /^\uFEFF?\s*(?:<\?[^>]*>\s*|<!--(?:(?!-->)[\s\S])*-->\s*|<![A-Za-z][^>]*>\s*)*<svg[\s>]/

function readLimited(file: string): Result<Buffer, string> {
  try {
    const found = statSync(file)
    if (!found.isFile()) return { ok: false, reason: 'give a file' }
    if (found.size > MAX_LOGO_BYTES) {
      return { ok: false, reason: `it has ${found.size} bytes; give one of at most ${MAX_LOGO_BYTES}` }
    }
    return { ok: true, value: readFileSync(file) }
  } catch {
    return { ok: false, reason: 'there is no such file that can be read' }
  }
}
