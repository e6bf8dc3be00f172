/**
 * Addresses that have the same xxHash32 with every seed. Rollcall used that hash for its index.
 *
 * A round of xxHash32 is `lane = rotl(lane + word * P2, 13) * P1` (mod 2 ** 32). Addition and multiplication keep a
 * difference of two inputs as a difference, for every value of the lane. The rotation keeps it as well, except when the
 * difference carries over bit 19 or bit 32 of the sum. For `words[0]` below, the difference times P2 is -104, so that
 * happens for one seed in five thousand. The word of the next round then takes the difference back to 0:
 *
 *   -104 * 2 ** 13 * P1 + (words[1][1] - words[1][0]) * P2 = 0 (mod 2 ** 32)
 *
 * So each lane of two rounds (32 characters) has two variants with the same hash, and these can be combined.
 */

import { type Address, parseAddress } from '../../src/email.ts'

/** The variants of a lane: its words in the first and in the second round. */
const VARIANTS = [
  ['9e0r', 'aa60'],
  ['a0u0', 'aaad'],
] as const

/** Each has one `@` or dot in its first lane, which keeps its words. */
const DOMAIN_BLOCKS = ['@net', '.net', '.net', '.net']

/** Creates distinct addresses with the same hash, at most 2 ** 20. */
export function createCollidingAddresses(size: number): Address[] {
  return Array.from({ length: size }, (_, index) => {
    const local =
      toBlock([0, 1, 2, 3].map((bit) => toLane(index, bit))) + toBlock([4, 5, 6, 7].map((bit) => toLane(index, bit)))
    const domain = DOMAIN_BLOCKS.map((first, block) =>
      toBlock([[first, 'work'], ...[8, 9, 10].map((bit) => toLane(index, bit + 3 * block))]),
    )
    return toAddress(`${local}${domain.join('')}.example`)
  })
}

type Lane = readonly [first: string, second: string]

function toLane(index: number, bit: number): Lane {
  return (index >>> bit) % 2 === 0 ? VARIANTS[0] : VARIANTS[1]
}

function toBlock(lanes: readonly Lane[]): string {
  return lanes.map(([first]) => first).join('') + lanes.map(([, second]) => second).join('')
}

function toAddress(text: string): Address {
  const parsed = parseAddress(text)
  if (!parsed.ok) throw new Error(`${text}: ${parsed.reason}`)
  return parsed.value
}
