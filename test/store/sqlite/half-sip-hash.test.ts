import { expect, test } from 'bun:test'
import { createHalfSipHash } from '../../../src/store/sqlite/half-sip-hash.ts'

/**
 * The hashes of '', '\0', '\0\1', '\0\1\2' and so on under the key 00 01 02 … 07: vectors_hsip32 in
 * https://github.com/veorq/SipHash/blob/master/vectors.h, as numbers.
 */
const VECTORS = `
  5b9f35a9 b85a4727 03a662fa 04e7fe8a 89466e2a 69b6fac5 23fc6358 c563cf8b 8f84b8d0 79e706f8 3479b094 50300808 2f87f057
  ff63e677 7cf8ffd6 972bfe74 84acb5d9 5b6474c4 9b8d5b46 87e3ef7b 45104de3 b3623f61 fe67f370 bdb8ade6 630c4027 75787826
  5f7b564f 69e6b03a 004064b0 b40f67ff 8b339e50 1a9f585d 1221e7fe 59327533 8c4f436a 29b728fe ecc65ce7 548d7e69 0f8b6863
  b4620b65 4018bcb6 0545075d 2efd4224 3a86b77b 48d50577 b10852d7 c899d4b6 2e209208 e32ce169 e580b58d c6649736 04026e01
  d4f3853b be66dbfe 3a2a691e c08489c6 40b9c5a5 8ce8e99b 4081bc7d c58e077c 736ce7d4 b9cb8f42 7a9983bd 744aea59`
  .trim()
  .split(/\s+/)

test('the hashes of the published vectors', () => {
  const hashOf = createHalfSipHash(Uint8Array.from({ length: 8 }, (_, index) => index))
  const text = String.fromCharCode(...VECTORS.keys())
  const hashes = VECTORS.map((_, length) => hashOf(text.slice(0, length)).toString(16).padStart(8, '0'))
  expect(VECTORS).toHaveLength(64)
  expect(hashes).toEqual(VECTORS)
})
