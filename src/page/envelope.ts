/** An envelope, the drawing of the icons that cannot have a letter. In pixels. */
export interface Envelope {
  readonly left: number
  readonly top: number
  /** The first pixel to the right of it. */
  readonly right: number
  /** The first pixel below it. */
  readonly bottom: number
  /** Half of the width of the edge of its flap, without the pixel in the middle. */
  readonly edge: number
}

/** Whether a pixel is in an envelope. The edge of its flap, from both upper corners to the middle, is not. */
export function isInEnvelope({ left, top, right, bottom, edge }: Envelope, x: number, y: number): boolean {
  const fromSide = Math.min(x - left, right - 1 - x)
  return fromSide >= 0 && y >= top && y < bottom && Math.abs(y - top - edge - fromSide) > edge
}

/** Sets a bit of a row with one bit per pixel, the first pixel in the highest bit. @param row the index of its first byte */
export function setPixel(bytes: Uint8Array, row: number, x: number): void {
  const index = row + (x >> 3)
  bytes[index] = (bytes[index] ?? 0) | (0x80 >> (x & 7))
}
