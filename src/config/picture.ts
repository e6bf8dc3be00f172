/** The pictures of the site, which are files next to the site file: its logo, the portrait of its author, and its card. */

import { readFileSync, statSync } from 'node:fs'
import { toSystemReason } from '../failure.ts'
import { MAX_PICTURE_BYTES } from '../limits.ts'

// The parts of a PNG (sections 5.2, 11.2.1 and 11.2.5 of its specification), as Latin-1.
const PNG_SIGNATURE = '\\x89PNG\\r\\n\\x1a\\n'
/** The first chunk: its length, its name, and a width and a height that are not 0. */
const PNG_HEAD = /[\s\S]{4}IHDR(?!\0{4})[\s\S]{4}(?!\0{4})/
/** The last chunk, which is empty: its name and its sum. */
const PNG_END = /IEND\xaeB`\x82/
const WHOLE_PNG = new RegExp(`^${PNG_SIGNATURE}${PNG_HEAD.source}[\\s\\S]*${PNG_END.source}`)

/**
 * Each format: how a file starts, and whether it goes on to its end, both as Latin-1. A part of a picture, as a broken upload leaves
 * it, would be a broken picture on the page. No picture is decoded: one that is whole may be wrong.
 */
const FORMATS = {
  SVG: {
    mediaType: 'image/svg+xml',
    // The root element, after a byte order mark, an XML declaration, comments and a document type.
    start: /^(?:\xef\xbb\xbf)?\s*(?:<\?[^>]*>\s*|<!--(?:(?!-->)[\s\S])*-->\s*|<![A-Za-z][^>]*>\s*)*<svg[\s>]/,
    // The end of an svg element, or an empty one. Behind the root are comments and instructions only (XML 1.0, section 2.1).
    isWhole: (content: string) =>
      /(?:<\/svg\s*>|<svg[^>]*\/>)(?:\s|<!--(?:(?!-->)[\s\S])*-->|<\?[^>]*>)*$/.test(content),
  },
  PNG: {
    mediaType: 'image/png',
    start: /^\x89PNG\r\n/,
    isWhole: (content: string) => WHOLE_PNG.test(content),
  },
  JPEG: { mediaType: 'image/jpeg', start: /^\xff\xd8\xff/, isWhole: hasEndOfJpeg },
} as const

/**
 * Whether the markers of a JPEG lead to that of its end (ITU-T T.81, annex B). A segment is skipped as a whole, because it may have
 * another picture in it, such as the thumbnail of a camera, which has an end of its own.
 */
function hasEndOfJpeg(content: string): boolean {
  // After the two bytes of the start.
  let at = 2
  while (at < content.length) {
    const code = content.charCodeAt(at) === 0xff ? content.charCodeAt(at + 1) : undefined
    if (code === END_OF_IMAGE) return true
    if (code === undefined || !hasSegment(code)) {
      // A byte of the data of a scan.
      at++
      continue
    }
    const length = content.charCodeAt(at + 2) * 256 + content.charCodeAt(at + 3)
    // The file is cut off before the length.
    if (Number.isNaN(length)) return false
    at += 2 + length
  }
  return false
}

const END_OF_IMAGE = 0xd9

/** Whether a segment follows a marker. In the data of a scan, 0 follows a byte 0xff, and RST markers are between its parts. */
function hasSegment(code: number): boolean {
  const isRestart = code >= 0xd0 && code <= 0xd7
  return code >= 0xc0 && code < 0xff && !isRestart
}

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
    const { mediaType, isWhole } = FORMATS[format]
    return isWhole(content) ? { mediaType, bytes } : `this ${format} file is not whole; ${advice}`
  } catch (error) {
    return `${toSystemReason(error) ?? 'it cannot be read'}; ${advice}`
  }
}
