/** Reads the log that the shim writes: `struct record` in shim.h. */

import { readFileSync } from 'node:fs'

interface At {
  /** Where the record ends in the log, in bytes. Positions are in the order of the operations. */
  readonly position: number
}

export type Record =
  | (At & { readonly kind: 'write'; readonly inode: number; readonly offset: number; readonly data: Buffer })
  | (At & { readonly kind: 'truncate'; readonly inode: number; readonly size: number })
  | (At & { readonly kind: 'syncBegin'; readonly inode: number; readonly id: bigint })
  | (At & { readonly kind: 'syncEnd'; readonly inode: number; readonly id: bigint; readonly isDone: boolean })
  | (At & { readonly kind: 'open'; readonly inode: number; readonly path: string; readonly flags: number })
  | (At & { readonly kind: 'unlink'; readonly path: string })
  | (At & { readonly kind: 'rename'; readonly from: string; readonly to: string })
  | (At & { readonly kind: 'mkdir'; readonly path: string })
  | (At & { readonly kind: 'send'; readonly port: number; readonly start: string })

/** Bytes before the payload. */
const HEAD = 32

/** Reads all records of a log, in order. A record that a killed process did not finish is left out. */
export function* readRecording(file: string): Generator<Record> {
  const bytes = readFileSync(file)
  for (let at = 0; at + HEAD <= bytes.length; ) {
    const size = bytes.readUInt32LE(at)
    if (at + size > bytes.length) return
    const record = toRecord(bytes.subarray(at, at + size), at + size)
    if (record) yield record
    at += size
  }
}

function toRecord(bytes: Buffer, position: number): Record | undefined {
  const inode = Number(bytes.readBigUInt64LE(8))
  const offset = Number(bytes.readBigUInt64LE(16))
  const id = bytes.readBigUInt64LE(16)
  const result = bytes.readInt32LE(24)
  const data = bytes.subarray(HEAD)
  const text = data.toString('latin1')
  const [from = '', to = ''] = text.split('\0')
  switch (bytes.readUInt32LE(4)) {
    case 1:
      return { kind: 'write', position, inode, offset, data }
    case 2:
      return { kind: 'truncate', position, inode, size: offset }
    case 3:
      return { kind: 'syncBegin', position, inode, id }
    case 4:
      return { kind: 'syncEnd', position, inode, id, isDone: result === 0 }
    case 5:
      return { kind: 'open', position, inode, path: text, flags: result }
    case 6:
      return { kind: 'unlink', position, path: text }
    case 7:
      return { kind: 'rename', position, from, to }
    case 8:
      return { kind: 'mkdir', position, path: text }
    case 9:
      return { kind: 'send', position, port: offset, start: text }
    default:
      return undefined
  }
}
