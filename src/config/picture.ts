/** The pictures of the site, which are files next to the site file: its logo, the portrait of its author, and its card. */

import { readFileSync, statSync } from 'node:fs'
import { toSystemReason } from '../failure.ts'
import { MAX_PICTURE_BYTES } from '../limits.ts'

/**
 * Each format, as Latin-1: how a file starts, and what one has that is whole (PNG, sections 5.2, 11.2.1 and 11.2.5; JPEG, ITU-T T.81,
 * annex B). A part of a picture, as a broken upload leaves it, would be a broken picture on the page.
 */
const FORMATS = {
  // The root element, after a byte order mark, an XML declaration, comments and a document type.
  SVG: {
    mediaType: 'image/svg+xml',
    start: /^(?:\xef\xbb\xbf)?\s*(?:<\?[^>]*>\s*|<!--(?:(?!-->)[\s\S])*-->\s*|<![A-Za-z][^>]*>\s*)*<svg[\s>]/,
    // The end of the root element, or an empty one.
    whole: /<\/svg\s*>|<svg[^>]*\/>/,
  },
  PNG: {
    mediaType: 'image/png',
    start: /^\x89PNG\r\n/,
    // The first chunk with a width and a height above 0, and the last one.
    whole: /^\x89PNG\r\n[\s\S]{6}IHDR(?!\0{4})[\s\S]{4}(?!\0{4})[\s\S]*IEND\xaeB`\x82/,
  },
  JPEG: {
    mediaType: 'image/jpeg',
    start: /^\xff\xd8\xff/,
    // The last marker.
    whole: /\xff\xd9/,
  },
} as const

/** A card is PNG, because social networks read no SVG. */
const USES = { logo: ['SVG', 'PNG'], portrait: ['SVG', 'PNG', 'JPEG'], card: ['PNG'] } as const

export type PictureUse = keyof typeof USES

export interface Picture {
  readonly mediaType: (typeof FORMATS)[keyof typeof FORMATS]['mediaType']
  readonly bytes: Uint8Array
}

/** Reads a picture. Its format depends on its content, not on its name. @returns a text that says why the file is none */
export function readPicture(use: PictureUse, file: string): Picture | string {
  const names = new Intl.ListFormat('en', { type: 'disjunction' }).format(USES[use])
  const advice = `use the path of a file in ${names} of at most ${MAX_PICTURE_BYTES[use]} bytes, relative to the folder of the site file`
  try {
    const stats = statSync(file)
    if (!stats.isFile()) return `it is not a file; ${advice}`
    if (stats.size > MAX_PICTURE_BYTES[use]) return `it has ${stats.size} bytes; ${advice}`
    const bytes = readFileSync(file)
    const content = bytes.toString('latin1')
    const format = USES[use].find((name) => FORMATS[name].start.test(content))
    if (format === undefined) return `it is not ${names}; ${advice}`
    const { mediaType, whole } = FORMATS[format]
    return whole.test(content) ? { mediaType, bytes } : `this ${format} file is not whole; ${advice}`
  } catch (error) {
    return `${toSystemReason(error) ?? 'it cannot be read'}; ${advice}`
  }
}
