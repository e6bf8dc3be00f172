/** The text of a file: read into memory and decoded. */

import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { Failure, toFileFailure } from '../../failure.ts'
import { MAX_IMPORT_BYTES } from '../../limits.ts'

/** The name of an input in messages. */
export function toInputName(file: string): string {
  return file === '-' ? 'standard input' : file
}

/**
 * Reads a text file, or standard input for `-`.
 *
 * @param encoding a label of the Encoding standard, for a file without a byte order mark. Default: UTF-8
 * @throws Failure when the file cannot be read, has more than MAX_IMPORT_BYTES or is not text
 */
export async function readText(file: string, encoding?: string): Promise<string> {
  const name = toInputName(file)
  try {
    const stats = file === '-' ? undefined : await stat(file)
    if (stats?.isFile()) {
      if (stats.size > MAX_IMPORT_BYTES) throw toSizeFailure(name)
      return decodeText(await readFile(file), name, encoding)
    }
    return decodeText(await readStream(file === '-' ? process.stdin : createReadStream(file), name), name, encoding)
  } catch (error) {
    throw toFileFailure(error, name)
  }
}

async function readStream(stream: AsyncIterable<Uint8Array>, name: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes > MAX_IMPORT_BYTES) throw toSizeFailure(name)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function toSizeFailure(name: string): Failure {
  const size = `${MAX_IMPORT_BYTES / 1024 ** 2} MiB`
  return new Failure(
    `${name}: it is larger than ${size}. Split it, for example with "split -C 500m", and keep the header`,
  )
}

/** Byte order marks: WHATWG Encoding, section 6. */
const MARKS: readonly (readonly [mark: string, encoding: string])[] = [
  ['\xef\xbb\xbf', 'utf-8'],
  ['\xff\xfe', 'utf-16le'],
  ['\xfe\xff', 'utf-16be'],
]

/** Decodes a text. A byte order mark counts more than `encoding`. @throws Failure that says what to do */
export function decodeText(bytes: Uint8Array, name: string, encoding?: string): string {
  const start = Buffer.from(bytes.subarray(0, 1024)).toString('latin1')
  const marked = MARKS.find(([mark]) => start.startsWith(mark))?.[1]
  const known = marked ?? encoding
  // Spreadsheets, archives and databases have zero bytes, and so has UTF-16.
  if (!known && start.includes('\0')) {
    throw new Failure(`${name}: it is not a text file: unpack an archive, or save the list as CSV (UTF-8)`)
  }
  try {
    return new TextDecoder((known ?? 'utf-8') as Bun.Encoding, { fatal: true }).decode(bytes)
  } catch {
    if ((known ?? 'utf-8').toLowerCase() !== 'utf-8') throw new Failure(`${name}: it is not ${known}`)
    const other = encoding ? '' : ', or name its encoding, such as --encoding windows-1252 (Western Europe)'
    throw new Failure(`${name}: line ${findInvalidLine(bytes)}: it is not UTF-8. Save it as UTF-8${other}`)
  }
}

function findInvalidLine(bytes: Uint8Array): number {
  let start = 0
  for (let line = 1; ; line++) {
    const found = bytes.indexOf(10, start)
    const end = found < 0 ? bytes.length : found
    if (found < 0 || !isUtf8(bytes.subarray(start, end))) return line
    start = end + 1
  }
}
