/**
 * SipHash-2-4 with the lowest 32 of its 64 bits, for the comparison in hashes.ts. Source: Aumasson and Bernstein, "SipHash: a
 * fast short-input PRF", INDOCRYPT 2012. Numbers have 53 bits, so each word is two halves of 32 bits.
 */

/** @param key 16 bytes */
export function createSipHash(key: Uint8Array): (text: string) => number {
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength)
  const [k0l, k0h, k1l, k1h] = [0, 4, 8, 12].map((at) => view.getUint32(at, true)) as [number, number, number, number]

  return (text) => {
    let [v0l, v0h, v1l, v1h] = [k0l ^ 0x70736575, k0h ^ 0x736f6d65, k1l ^ 0x6e646f6d, k1h ^ 0x646f7261]
    let [v2l, v2h, v3l, v3h] = [k0l ^ 0x6e657261, k0h ^ 0x6c796765, k1l ^ 0x79746573, k1h ^ 0x74656462]
    const tail = text.length - (text.length % 8)
    for (let at = 0; at <= tail + 8; at += 8) {
      const isEnd = at > tail
      if (isEnd) v2l ^= 0xff
      const low = isEnd ? 0 : toWord(text, at)
      const high = isEnd ? 0 : toWord(text, at + 4) | (at === tail ? text.length << 24 : 0)
      v3l ^= low
      v3h ^= high
      for (let round = isEnd ? 4 : 2; round > 0; round--) {
        let sum = (v0l >>> 0) + (v1l >>> 0)
        v0h = (v0h + v1h + (sum > 0xffffffff ? 1 : 0)) | 0
        v0l = sum | 0
        let half = (v1h << 13) | (v1l >>> 19)
        v1l = ((v1l << 13) | (v1h >>> 19)) ^ v0l
        v1h = half ^ v0h
        half = v0l
        v0l = v0h
        v0h = half
        sum = (v2l >>> 0) + (v3l >>> 0)
        v2h = (v2h + v3h + (sum > 0xffffffff ? 1 : 0)) | 0
        v2l = sum | 0
        half = (v3h << 16) | (v3l >>> 16)
        v3l = ((v3l << 16) | (v3h >>> 16)) ^ v2l
        v3h = half ^ v2h
        sum = (v0l >>> 0) + (v3l >>> 0)
        v0h = (v0h + v3h + (sum > 0xffffffff ? 1 : 0)) | 0
        v0l = sum | 0
        half = (v3h << 21) | (v3l >>> 11)
        v3l = ((v3l << 21) | (v3h >>> 11)) ^ v0l
        v3h = half ^ v0h
        sum = (v2l >>> 0) + (v1l >>> 0)
        v2h = (v2h + v1h + (sum > 0xffffffff ? 1 : 0)) | 0
        v2l = sum | 0
        half = (v1h << 17) | (v1l >>> 15)
        v1l = ((v1l << 17) | (v1h >>> 15)) ^ v2l
        v1h = half ^ v2h
        half = v2l
        v2l = v2h
        v2h = half
      }
      v0l ^= low
      v0h ^= high
    }
    return (v0l ^ v1l ^ v2l ^ v3l) >>> 0
  }
}

/** Four characters; 0 for each one after the end. */
function toWord(text: string, at: number): number {
  if (at + 4 <= text.length) {
    return (
      text.charCodeAt(at) |
      (text.charCodeAt(at + 1) << 8) |
      (text.charCodeAt(at + 2) << 16) |
      (text.charCodeAt(at + 3) << 24)
    )
  }
  let word = 0
  for (let index = at; index < text.length; index++) word |= text.charCodeAt(index) << (8 * (index - at))
  return word
}
