/** The pictures of the site, which are files next to the site file: its logo, the portrait of its author, and its card. */

import { readFileSync, statSync } from 'node:fs'
import { toSystemReason } from '../failure.ts'
import { MAX_PICTURE_BYTES } from '../limits.ts'

export interface Picture {
  readonly mediaType: 'image/svg+xml' | 'image/png' | 'image/jpeg'
  readonly bytes: Uint8Array
}

export type PictureUse = keyof typeof MAX_PICTURE_BYTES

/** The start of a file, in bytes of Latin-1: PNG, section 5.2; JPEG (ITU-T T.81), annex B.1.1.3. */
const SIGNATURES = { 'image/png': '\x89PNG\r\n\x1a\n', 'image/jpeg': '\xff\xd8\xff' } as const

// The root element, after an XML declaration, comments and a document type.
const SVG_START = /^\uFEFF?\s*(?:<\?[^>]*>\s*|<!--(?:(?!-->)[\s\S])*-->\s*|<![A-Za-z][^>]*>\s*)*<svg[\s>]/

const NAMES = { 'image/svg+xml': 'SVG', 'image/png': 'PNG', 'image/jpeg': 'JPEG' } as const

/** A card is PNG, because social networks read no SVG. */
const TYPES: Readonly<Record<PictureUse, readonly Picture['mediaType'][]>> = {
  logo: ['image/svg+xml', 'image/png'],
  portrait: ['image/svg+xml', 'image/png', 'image/jpeg'],
  card: ['image/png'],
}

/**
 * Reads a picture. Its type depends on its content, not on its name.
 *
 * @returns the picture, or why the file is not one, for an error message
 */
export function readPicture(use: PictureUse, file: string): Picture | string {
  const types = new Intl.ListFormat('en', { type: 'disjunction' }).format(TYPES[use].map((type) => NAMES[type]))
  const advice = `use the path of a file in ${types} of at most ${MAX_PICTURE_BYTES[use]} bytes, relative to the folder of the site file`
  try {
    const stats = statSync(file)
    if (!stats.isFile()) return `it is not a file; ${advice}`
    if (stats.size > MAX_PICTURE_BYTES[use]) return `it has ${stats.size} bytes; ${advice}`
    const bytes = readFileSync(file)
    const mediaType = TYPES[use].find((type) => isOfType(bytes, type))
    return mediaType ? { mediaType, bytes } : `it is not ${types}; ${advice}`
  } catch (error) {
    return `${toSystemReason(error) ?? 'it cannot be read'}; ${advice}`
  }
}

function isOfType(bytes: Buffer, type: Picture['mediaType']): boolean {
  if (type === 'image/svg+xml') return SVG_START.test(bytes.toString())
  return bytes.toString('latin1', 0, 8).startsWith(SIGNATURES[type])
}
