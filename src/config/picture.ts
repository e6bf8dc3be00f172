/** The pictures of the site, which are files next to the site file: its logo, the portrait of its author, and its card. */

import { readFileSync, statSync } from 'node:fs'
import { toSystemReason } from '../failure.ts'
import { MAX_PICTURE_BYTES } from '../limits.ts'

/** The start of a file of each format, as Latin-1: PNG, section 5.2; JPEG (ITU-T T.81), annex B.1.1.3. */
const FORMATS = {
  // The root element, after a byte order mark, an XML declaration, comments and a document type.
  SVG: {
    mediaType: 'image/svg+xml',
    start: /^(?:\xef\xbb\xbf)?\s*(?:<\?[^>]*>\s*|<!--(?:(?!-->)[\s\S])*-->\s*|<![A-Za-z][^>]*>\s*)*<svg[\s>]/,
  },
  PNG: { mediaType: 'image/png', start: /^\x89PNG\r\n/ },
  JPEG: { mediaType: 'image/jpeg', start: /^\xff\xd8\xff/ },
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
    const format = USES[use].find((name) => FORMATS[name].start.test(bytes.toString('latin1')))
    return format ? { mediaType: FORMATS[format].mediaType, bytes } : `it is not ${names}; ${advice}`
  } catch (error) {
    return `${toSystemReason(error) ?? 'it cannot be read'}; ${advice}`
  }
}
