/** The text of a file or of standard input: UTF-8, or UTF-16 with a byte order mark. */

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Failure, toFileFailure } from '../../failure.ts'

/** A file, or standard input. */
export interface Input {
  /** Its name in messages. */
  readonly name: string
  /** Bytes; undefined when the size is not known, as of a pipe. */
  readonly size: number | undefined
  readonly chunks: AsyncIterable<Uint8Array>
}

const CHUNK_BYTES = 256 * 1024

/**
 * Opens a file, or standard input for `-`.
 *
 * @throws Failure when the file cannot be found; reading it throws one when it is a folder or may not be read
 */
export async function openInput(file: string): Promise<Input> {
  if (file === '-') return { name: 'standard input', size: undefined, chunks: process.stdin }
  const stats = await stat(file).catch((error: unknown) => {
    throw toFileFailure(error, file)
  })
  return { name: file, size: stats.isFile() ? stats.size : undefined, chunks: readChunks(file) }
}

async function* readChunks(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file, { highWaterMark: CHUNK_BYTES })
  } catch (error) {
    throw toFileFailure(error, file)
  }
}

/**
 * Decodes UTF-8, and UTF-16 with a byte order mark.
 *
 * @param onBytes called with the number of bytes read so far
 * @throws Failure that names the likely encoding
 */
export async function* decodeText(
  { name, chunks }: Input,
  onBytes: (total: number) => void = () => {},
): AsyncGenerator<string> {
  let total = 0
  let decoder: TextDecoder | undefined
  for await (const chunk of chunks) {
    decoder ??= createDecoder(chunk, name)
    yield decode(decoder, chunk, total, name)
    total += chunk.length
    onBytes(total)
  }
  if (decoder) yield decode(decoder, undefined, total, name)
}

function createDecoder(start: Uint8Array, name: string): TextDecoder {
  const [first, second, third] = start
  // A decoder removes its byte order mark, also that of UTF-8.
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le', { fatal: true })
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be', { fatal: true })
  if (first === 0x50 && second === 0x4b && third === 0x03) {
    throw new Failure(`${name}: it is a zip archive, as spreadsheets are; save it as CSV first`)
  }
  const sample = start.subarray(0, 1024)
  const zeros = sample.reduce((sum, byte) => sum + (byte === 0 ? 1 : 0), 0)
  // In UTF-16 every other byte of ASCII text is zero.
  if (zeros > sample.length / 4) {
    throw new Failure(
      `${name}: it looks like UTF-16 without a byte order mark, or is not text; convert it to UTF-8 first`,
    )
  }
  return new TextDecoder('utf-8', { fatal: true })
}

function decode(decoder: TextDecoder, chunk: Uint8Array | undefined, offset: number, name: string): string {
  try {
    return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode()
  } catch {
    const line = chunk && offset === 0 ? `line ${findLine(chunk)}` : `after byte ${offset}`
    throw new Failure(
      `${name}: ${line}: it is not UTF-8, and looks like Latin-1 (Windows-1252); convert it first: iconv -f WINDOWS-1252 -t UTF-8`,
    )
  }
}

/** The line of the first byte that is not UTF-8. */
function findLine(chunk: Uint8Array): number {
  const valid = new TextDecoder('utf-8').decode(chunk).split('\ufffd', 1)[0] ?? ''
  return valid.split('\n').length
}
