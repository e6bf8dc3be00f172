/** Pictures as owners have them. */

import { crc32, deflateSync } from 'node:zlib'

/** Creates a black PNG of one bit for each pixel. */
export function createPng(width: number, height: number) {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.writeUInt8(1, 8)
  // A row begins with the number of its filter.
  const rows = Buffer.alloc((1 + Math.ceil(width / 8)) * height)
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  const chunks = [toChunk('IHDR', header), toChunk('IDAT', deflateSync(rows)), toChunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([signature, ...chunks])
}

/** A chunk of a PNG (section 5.3): its length, its type, its data, and a sum for both. */
function toChunk(type: string, data: Uint8Array) {
  const content = Buffer.concat([Buffer.from(type), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(content))
  return Buffer.concat([length, content, sum])
}

/** The first and the last bytes of a JPEG. */
export const JPEG = Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex')

/** The same with a smaller picture in a segment (APP1, Exif), as cameras write it, and with the data of a scan. */
export const JPEG_WITH_THUMBNAIL = Buffer.concat([
  Buffer.from('ffd8ffe1001e457869660000', 'hex'),
  JPEG,
  // A scan (SOS) of two rows of data: `ff00` is a byte of it, and `ffd0` is between the rows.
  Buffer.from('ffda0008010100003f00', 'hex'),
  Buffer.from('7fff0012ffd07f34', 'hex'),
  Buffer.from('ffd9', 'hex'),
])
