/** Sorts (hash, position) pairs in 256 parts, one for each first byte of a hash, so that no single sort takes long. */

/** Entries in a slice. The index pass takes 1 to 3 ms for this many. */
const SLICE_SIZE = 1024

/**
 * An entry is a number: the hash times POSITIONS, plus the position. The SQL of compaction takes it apart again.
 * A hash has 32 bits and a position 21, which fills the 53 bits of a number.
 */
export const POSITIONS = 2 ** 21

export function createBuckets() {
  const buckets = Array.from({ length: 256 }, () => ({ entries: new Float64Array(64), size: 0 }))

  function add(hash: number, position: number): void {
    const bucket = buckets[hash >>> 24]
    if (!bucket) throw new RangeError('a hash has 32 bits')
    if (bucket.size === bucket.entries.length) {
      const larger = new Float64Array(bucket.size * 2)
      larger.set(bucket.entries)
      bucket.entries = larger
    }
    bucket.entries[bucket.size] = hash * POSITIONS + position
    bucket.size++
  }

  /** Yields all entries in the order of their hashes, as JSON arrays. */
  function* slices(): Generator<string> {
    for (const { entries, size } of buckets) {
      const sorted = entries.subarray(0, size).sort()
      for (let start = 0; start < size; start += SLICE_SIZE) {
        yield `[${sorted.subarray(start, start + SLICE_SIZE).join()}]`
      }
    }
  }

  return { add, slices }
}
