/** Characters in a block of the input. */
const BLOCK = 4

/** Rounds for a block, and at the end. */
const BLOCK_ROUNDS = 2
const END_ROUNDS = 4

/**
 * Creates HalfSipHash-2-4 with 32 bits of output: a hash that nobody can predict without the key. Source: Aumasson and
 * Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012, and https://github.com/veorq/SipHash for the variant
 * with words of 32 bits.
 *
 * @param key 8 random bytes
 * @returns the hash of a text in ASCII, from 0 to 2 ** 32 - 1
 */
export function createHalfSipHash(key: Uint8Array): (text: string) => number {
  const words = new DataView(key.buffer, key.byteOffset, key.byteLength)
  // Signed, because numbers of 32 bits are fast when they are signed.
  const [key0, key1] = [words.getInt32(0, true), words.getInt32(4, true)]

  return (text) => {
    let v0 = key0
    let v1 = key1
    let v2 = 0x6c796765 ^ key0
    let v3 = 0x74656462 ^ key1
    const tail = text.length - (text.length % BLOCK)
    for (let at = 0; at <= tail + BLOCK; at += BLOCK) {
      let word = 0
      if (at < tail) word = toWord(text, at)
      else if (at === tail) word = toTail(text, at)
      else v2 ^= 0xff
      v3 ^= word
      for (let round = at > tail ? END_ROUNDS : BLOCK_ROUNDS; round > 0; round--) {
        v0 = (v0 + v1) | 0
        v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
        v0 = (v0 << 16) | (v0 >>> 16)
        v2 = (v2 + v3) | 0
        v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
        v0 = (v0 + v3) | 0
        v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
        v2 = (v2 + v1) | 0
        v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
        v2 = (v2 << 16) | (v2 >>> 16)
      }
      v0 ^= word
    }
    return (v1 ^ v3) >>> 0
  }
}

function toWord(text: string, at: number): number {
  return (
    text.charCodeAt(at) |
    (text.charCodeAt(at + 1) << 8) |
    (text.charCodeAt(at + 2) << 16) |
    (text.charCodeAt(at + 3) << 24)
  )
}

/** The last block: what is left of the text, and its length in the highest byte. */
function toTail(text: string, at: number): number {
  let word = text.length << 24
  for (let index = at; index < text.length; index++) word |= text.charCodeAt(index) << (8 * (index - at))
  return word
}
