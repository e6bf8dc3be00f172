/** Sorts (hash, position) pairs in 256 parts, one for each first byte of a hash, so that no single sort takes long. */

/** Entries in a slice. The index pass takes 1 to 3 ms for this many. */
const SLICE_SIZE = 1024

/**
 * An entry is a number: the hash times POSITIONS, plus the position. The SQL of compaction takes it apart again. A
 * hash has 32 bits and a position 21, which fills the 53 bits of a number.
 */
export const POSITIONS = 2 ** 21

export function createBuckets() {
  const buckets = Array.from({ length: 256 }, (): number[] => [])
  return {
    add: (hash: number, position: number) => void buckets[hash >>> 24]?.push(hash * POSITIONS + position),

    /** Yields all entries in the order of their hashes, as JSON arrays. */
    *slices(): Generator<string> {
      for (const bucket of buckets) {
        const sorted = Float64Array.from(bucket).sort()
        for (let start = 0; start < sorted.length; start += SLICE_SIZE) {
          yield `[${sorted.subarray(start, start + SLICE_SIZE).join()}]`
        }
      }
    },
  }
}
