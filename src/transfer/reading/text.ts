/** Decodes the text of a file: UTF-8, UTF-16 with a byte order mark, or the encoding that the owner names. */

import { Failure } from '../../failure.ts'
import type { Input } from './input.ts'

/** Labels of the Encoding standard. In it, Latin-1 is a name for Windows-1252, which has more characters. */
export const ENCODINGS = [
  'utf-8',
  'utf-16le',
  'latin1',
  'iso-8859-1',
  'iso-8859-15',
  'windows-1250',
  'windows-1252',
  'cp1252',
  'macintosh',
] as const
export type EncodingLabel = (typeof ENCODINGS)[number]

export interface TextOptions {
  /** The encoding of a file without a byte order mark. Default: UTF-8. */
  readonly encoding?: EncodingLabel | undefined
  /** Called with the number of bytes read so far. */
  readonly onBytes?: ((total: number) => void) | undefined
}

/**
 * Decodes a text.
 *
 * @throws Failure that names the likely encoding
 */
export async function* decodeText(
  { name, chunks }: Pick<Input, 'name' | 'chunks'>,
  { encoding, onBytes }: TextOptions = {},
): AsyncGenerator<string> {
  let total = 0
  let decoder: TextDecoder | undefined
  for await (const chunk of chunks) {
    decoder ??= createDecoder(chunk, name, encoding)
    yield decode(decoder, chunk, total, name)
    total += chunk.length
    onBytes?.(total)
  }
  if (decoder) yield decode(decoder, undefined, total, name)
}

function createDecoder(start: Uint8Array, name: string, encoding: EncodingLabel | undefined): TextDecoder {
  const [first, second, third] = start
  // A decoder removes its byte order mark, also that of UTF-8.
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le', { fatal: true })
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be', { fatal: true })
  if (first === 0xef && second === 0xbb && third === 0xbf) return new TextDecoder('utf-8', { fatal: true })
  if (first === 0x50 && second === 0x4b && third === 0x03) {
    throw new Failure(`${name}: it is a zip archive, as spreadsheets are; save it as CSV first`)
  }
  if (encoding !== undefined) return new TextDecoder(encoding, { fatal: true })
  const sample = start.subarray(0, 1024)
  const zeros = sample.reduce((sum, byte) => sum + (byte === 0 ? 1 : 0), 0)
  // In UTF-16 every other byte of ASCII text is zero.
  if (zeros > sample.length / 4) {
    throw new Failure(
      `${name}: it looks like UTF-16 without a byte order mark, or is not text; use --encoding utf-16le, or convert it`,
    )
  }
  return new TextDecoder('utf-8', { fatal: true })
}

function decode(decoder: TextDecoder, chunk: Uint8Array | undefined, offset: number, name: string): string {
  try {
    return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode()
  } catch {
    const isUtf8 = decoder.encoding === 'utf-8'
    const line = chunk && offset === 0 && isUtf8 ? `line ${findLine(chunk)}` : `after byte ${offset}`
    const hint = isUtf8 ? ', and looks like Latin-1 (Windows-1252): use --encoding windows-1252' : ''
    throw new Failure(`${name}: ${line}: it is not ${decoder.encoding.toUpperCase()}${hint}`)
  }
}

/** The line of the first byte that is not UTF-8. */
function findLine(chunk: Uint8Array): number {
  const valid = new TextDecoder('utf-8').decode(chunk).split('\ufffd', 1)[0] ?? ''
  return valid.split('\n').length
}
