/** The icon of the site, a list on a coloured tile: as SVG, and as ICO for clients without SVG support. */

export const FAVICON_PATH = '/favicon.svg'

/** Width and height in units of the SVG and in pixels of the ICO. */
const SIZE = 16

/** The entries of the list, in white: a mark and a line each. */
const BARS = [3, 7, 11].flatMap((y) => [
  { x: 3, y, width: 2, height: 2 },
  { x: 7, y, width: 6, height: 2 },
])

/** Builds the icon as SVG. @param colour of the tile, as `#rrggbb` */
export function createFaviconSvg(colour: string): string {
  const bars = BARS.map(({ x, y, width, height }) => `M${x} ${y}h${width}v${height}h-${width}z`).join('')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE} ${SIZE}"><rect width="${SIZE}" height="${SIZE}" rx="2" fill="${colour}"/><path d="${bars}" fill="#fff"/></svg>\n`
}

const ICON_DIRECTORY_BYTES = 6 + 16
const BITMAP_HEADER_BYTES = 40
const PALETTE_BYTES = 2 * 4
/** One bit per pixel. Each row is padded to four bytes. */
const ROW_BYTES = 4
const PLANE_BYTES = SIZE * ROW_BYTES

/** Builds the icon as ICO: one bitmap of two colours, then its mask. @param colour of the tile, as `#rrggbb` */
export function createFaviconIco(colour: string): Uint8Array {
  const imageBytes = BITMAP_HEADER_BYTES + PALETTE_BYTES + 2 * PLANE_BYTES
  const bytes = new Uint8Array(ICON_DIRECTORY_BYTES + imageBytes)
  const view = new DataView(bytes.buffer)

  // ICONDIR: type 1, one image. ICONDIRENTRY: width, height, colours, planes, bits per pixel, length, offset.
  view.setUint16(2, 1, true)
  view.setUint16(4, 1, true)
  bytes.set([SIZE, SIZE, 2], 6)
  view.setUint16(10, 1, true)
  view.setUint16(12, 1, true)
  view.setUint32(14, imageBytes, true)
  view.setUint32(18, ICON_DIRECTORY_BYTES, true)

  // BITMAPINFOHEADER: its own length, width, the sum of the heights of bitmap and mask, planes, bits per pixel.
  view.setUint32(22, BITMAP_HEADER_BYTES, true)
  view.setInt32(26, SIZE, true)
  view.setInt32(30, 2 * SIZE, true)
  view.setUint16(34, 1, true)
  view.setUint16(36, 1, true)

  const palette = ICON_DIRECTORY_BYTES + BITMAP_HEADER_BYTES
  view.setUint32(palette, Number.parseInt(colour.slice(1), 16), true)
  view.setUint32(palette + 4, 0xffffff, true)
  drawPlane(bytes.subarray(palette + PALETTE_BYTES), isInBar)
  drawPlane(bytes.subarray(palette + PALETTE_BYTES + PLANE_BYTES), isCorner)
  return bytes
}

/** Sets the bit of each pixel that `isSet` selects. Rows go from bottom to top. */
function drawPlane(plane: Uint8Array, isSet: (x: number, y: number) => boolean): void {
  for (let y = 0; y < SIZE; y++) {
    for (let x = 0; x < SIZE; x++) {
      if (!isSet(x, y)) continue
      const index = (SIZE - 1 - y) * ROW_BYTES + (x >> 3)
      plane[index] = (plane[index] ?? 0) | (0x80 >> (x & 7))
    }
  }
}

function isInBar(x: number, y: number): boolean {
  return BARS.some((bar) => x >= bar.x && x < bar.x + bar.width && y >= bar.y && y < bar.y + bar.height)
}

/** Whether a pixel is transparent. */
function isCorner(x: number, y: number): boolean {
  return (x === 0 || x === SIZE - 1) && (y === 0 || y === SIZE - 1)
}
