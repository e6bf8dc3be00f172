/** The icon for the home screen of iOS, which reads PNG only: the envelope of favicon.ico, 180 pixels wide. */

import { crc32, deflateSync } from 'node:zlib'
import { BACKGROUND } from './accent.ts'
import { isInEnvelope, setPixel } from './envelope.ts'

/** Width and height in pixels. The system rounds the corners itself. */
const SIZE = 180

const ENVELOPE = { left: 36, top: 54, right: 144, bottom: 126, edge: 4 } as const

/** Builds the icon as PNG (PNG, third edition, sections 5 and 11). @param colour of the tile, as `#rrggbb` */
export function createTouchIcon(colour: string): Uint8Array {
  const header = new DataView(new ArrayBuffer(13))
  header.setUint32(0, SIZE)
  header.setUint32(4, SIZE)
  // One bit per pixel, which is the index of a colour in the palette.
  header.setUint8(8, 1)
  header.setUint8(9, 3)
  const palette = Buffer.from((colour + BACKGROUND.light).replaceAll('#', ''), 'hex')
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    createChunk('IHDR', Buffer.from(header.buffer)),
    createChunk('PLTE', palette),
    createChunk('IDAT', deflateSync(drawRows())),
    createChunk('IEND', Buffer.alloc(0)),
  ])
}

/** Draws the rows. Each starts with its filter, which is none. */
function drawRows(): Buffer {
  const rowBytes = 1 + Math.ceil(SIZE / 8)
  const rows = Buffer.alloc(rowBytes * SIZE)
  for (let y = 0; y < SIZE; y++) {
    for (let x = 0; x < SIZE; x++) {
      if (isInEnvelope(ENVELOPE, x, y)) setPixel(rows, y * rowBytes + 1, x)
    }
  }
  return rows
}

/** Builds a chunk: length, type, data, and the CRC of type and data. */
function createChunk(type: string, data: Uint8Array): Buffer {
  const content = Buffer.concat([Buffer.from(type), data])
  const frame = Buffer.alloc(4)
  frame.writeUInt32BE(data.length)
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(content))
  return Buffer.concat([frame, content, check])
}
