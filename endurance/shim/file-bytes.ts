/** The bytes of a file that grows, and the operations on them. */

/** A write, or a truncate to a size. */
export type Change = { readonly offset: number; readonly data: Uint8Array } | { readonly size: number }

export interface FileBytes {
  apply(change: Change): void
  clone(): FileBytes
  toBytes(): Uint8Array
}

/** Disks write sectors of 512 bytes whole or not at all. */
const SECTOR = 512

/** Creates the bytes of a file; a gap that a write leaves is zeros. */
export function createFileBytes(initial: Uint8Array = new Uint8Array()): FileBytes {
  let bytes = Uint8Array.from(initial)
  let size = bytes.length

  function reserve(needed: number): void {
    if (needed <= bytes.length) return
    const larger = new Uint8Array(Math.max(needed, bytes.length * 2))
    larger.set(bytes.subarray(0, size))
    bytes = larger
  }

  return {
    apply(change) {
      if ('size' in change) {
        reserve(change.size)
        if (change.size < size) bytes.fill(0, change.size, size)
        size = change.size
        return
      }
      reserve(change.offset + change.data.length)
      bytes.set(change.data, change.offset)
      size = Math.max(size, change.offset + change.data.length)
    },
    clone: () => createFileBytes(bytes.subarray(0, size)),
    toBytes: () => bytes.subarray(0, size),
  }
}

/** Splits a write into its sectors. */
export function* toSectors({ offset, data }: Extract<Change, { data: Uint8Array }>): Generator<Change> {
  for (let from = 0; from < data.length; ) {
    const to = Math.min(data.length, from + SECTOR - ((offset + from) % SECTOR))
    yield { offset: offset + from, data: data.subarray(from, to) }
    from = to
  }
}
