import { readFileSync, statSync } from 'node:fs'
import { toSystemReason } from '../failure.ts'
import { MAX_LOGO_BYTES } from '../limits.ts'
import type { Result } from '../result.ts'

/** The logo of the site. */
export interface Logo {
  readonly mediaType: 'image/svg+xml' | 'image/png'
  /** The extension of its name, with the dot. */
  readonly extension: '.svg' | '.png'
  readonly bytes: Uint8Array
}

/**
 * Reads a logo. Its type depends on its content, not on its name.
 *
 * @returns the logo, or why the file is not one, for an error message
 */
export function readLogo(file: string): Result<Logo, string> {
  const content = readSmallFile(file)
  if (!content.ok) return toFailure(content.reason)
  const bytes = content.value
  if (PNG_SIGNATURE.every((byte, index) => bytes[index] === byte)) {
    return { ok: true, value: { mediaType: 'image/png', extension: '.png', bytes } }
  }
  if (SVG_START.test(bytes.toString('utf8'))) {
    return { ok: true, value: { mediaType: 'image/svg+xml', extension: '.svg', bytes } }
  }
  return toFailure('it is neither SVG nor PNG')
}

// PNG, section 5.2.
const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

// The root element, after an XML declaration, comments and a document type.
const SVG_START = /^\uFEFF?\s*(?:<\?[^>]*>\s*|<!--(?:(?!-->)[\s\S])*-->\s*|<![A-Za-z][^>]*>\s*)*<svg[\s>]/

function readSmallFile(file: string): Result<Buffer, string> {
  try {
    const stats = statSync(file)
    if (!stats.isFile()) return { ok: false, reason: 'it is not a file' }
    if (stats.size > MAX_LOGO_BYTES) return { ok: false, reason: `it has ${stats.size} bytes` }
    return { ok: true, value: readFileSync(file) }
  } catch (error) {
    return { ok: false, reason: toSystemReason(error) ?? 'it cannot be read' }
  }
}

function toFailure(reason: string): Result<never, string> {
  const advice = `use the path of an SVG or PNG file of at most ${MAX_LOGO_BYTES} bytes, relative to the folder of the site file`
  return { ok: false, reason: `${reason}; ${advice}` }
}
