/** The text of a file: read into memory and decoded. Says what to do with a file that is not text. */

import { createReadStream, fstatSync, readlinkSync } from 'node:fs'
import { Failure, toErrorCode, toFileFailure, UsageError } from '../../failure.ts'
import { MAX_IMPORT_BYTES } from '../../limits.ts'

/** The name of an input in messages. The name of a file may say who is in it, also behind `<` in a shell. */
export function toInputName(file: string): string {
  return file === '-' ? (findInputFile() ?? 'standard input') : file
}

/** The file that is standard input; undefined when it is a pipe, a terminal or /dev/null. */
function findInputFile(): string | undefined {
  try {
    const path = readlinkSync('/proc/self/fd/0')
    // A shell deletes the file of a here-document.
    return fstatSync(0).isFile() && !path.endsWith(' (deleted)') ? path : undefined
  } catch (error) {
    // Only Linux has the folder, and standard input may be closed.
    if (toErrorCode(error) !== '') return undefined
    throw error
  }
}

/** Reads a text file, or standard input for `-`. @throws Failure for one with more than MAX_IMPORT_BYTES, and as `decodeText` */
export async function readText(file: string, encoding?: string): Promise<string> {
  const name = toInputName(file)
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of file === '-' ? process.stdin : createReadStream(file)) {
      bytes += chunk.length
      if (bytes > MAX_IMPORT_BYTES) {
        const size = `${MAX_IMPORT_BYTES / 1024 ** 2} MiB`
        const advice = 'Split it, for example with "split -C 500m", and keep the header'
        throw new Failure(`${name}: it is larger than ${size}. ${advice}`)
      }
      chunks.push(chunk)
    }
  } catch (error) {
    throw toFileFailure(error, name)
  }
  return decodeText(Buffer.concat(chunks), name, encoding)
}

/** How files begin that are not a list, and what to say: their first bytes as Latin-1, without zeros. `[^ -\xff]` is a control. */
// biome-ignore format: a table
const REFUSED: readonly (readonly [start: RegExp, message: string])[] = [
  [/^PK[^ -\xff]{2}/, 'a spreadsheet or a zip archive: save it as CSV (UTF-8) there, or unpack it'],
  [/^\xd0\xcf[^ -\xff]\xe0/, 'an Excel spreadsheet: save it as CSV (UTF-8) there, and use that file'],
  // gzip, xz, bzip2, zstd, 7z.
  [/^(?:[^ -\xff]\x8b|\xfd7zXZ|BZh|\(\xb5\/\xfd|7z\xbc\xaf)/, 'a compressed file: unpack it first'],
  [/^(?:SQLite format 3|%PDF-)/, 'a database or a PDF file: export the list as CSV instead'],
  [/^(?:(?:version:|#)[^\n]*\n+)*dn::? *[\w.=]|^\/\/ <!-- <mdb/i, 'an address book (LDIF): export it as CSV there'],
  [/^(?:BEGIN:V(?:CARD|CALENDAR)|[[\s]+"vcard")/i, 'a file of contacts (vCard): export them as CSV there'],
  [/^From \S+ .*\d{4}\s|^(?:Reporting-MTA|Content-Type|Sender|Reply-To|List-\w+|Return-Path|Received|Delivered-To|Message-ID|MIME-Version|From|To|Cc|Date|Subject|X-[\w-]+): /i,
    'a file of mails: export the addresses as CSV instead'],
  [/^\{\\rtf/, 'not plain text (RTF): save it as plain text there'],
  [/^<[!?]?[a-z][\w:.-]*(?:\s[^@]*)?\/?>|^<(?:!DOCTYPE|!--|\?xml)/i,
    'a web page (HTML) or XML: open it in a spreadsheet, and save it as CSV (UTF-8)'],
  [/^(?:bplist00|L[^ -\xff]{3}|\[(?:InternetShortcut|Desktop Entry)\]|\{[^[\]]{0,500}"(?:doc_id|resource_id)")/i,
    'a shortcut to a document: open the document, and download it as CSV'],
  [/^(?:[a-z_]+ [^\n]*\n)*email \S+@\S+ *\n/, 'a dump of Sympa: use the dump that has one address per line (light)'],
  [/^(?:(?:--|\/\*|SET |SELECT |USE |LOCK |START |PRAGMA |BEGIN)[^\n]*\n+)*(?:INSERT INTO|CREATE TABLE|DROP TABLE|COPY \S+ \()/i,
    'a dump of a database: export the table as CSV'],
]

/** Byte order marks: WHATWG Encoding, section 6. */
const MARKS = [
  { encoding: 'utf-8', mark: '\xef\xbb\xbf' },
  { encoding: 'utf-16le', mark: '\xff\xfe' },
  { encoding: 'utf-16be', mark: '\xfe\xff' },
] as const

/** Bytes at the start of a file that show what it is. */
const START_BYTES = 8192

/** Of the bytes of a text that is not UTF-16, at most this share is zero. */
const MAX_SHARE_OF_ZEROS = 1 / 20

/**
 * Decodes a list. Throws a Failure that says what to do with another kind of file, and a UsageError for an encoding that is none.
 *
 * @param encoding a label of the Encoding standard. A byte order mark counts more. Default: UTF-8
 */
export function decodeText(bytes: Uint8Array, name: string, encoding?: string): string {
  const start = Buffer.from(bytes.subarray(0, START_BYTES)).toString('latin1')
  const marked = MARKS.find(({ mark }) => start.startsWith(mark))
  // The text without the zero bytes of UTF-16.
  const plain = start
    .slice(marked?.mark.length ?? 0)
    .replaceAll('\0', '')
    .trimStart()
    .replace(/\r\n?/g, '\n')
  const message = REFUSED.find(([pattern]) => pattern.test(plain))?.[1]
  if (message) throw new Failure(`${name}: it is ${message}`)
  const known = marked?.encoding ?? encoding
  // Other encodings than UTF-16 have no zero bytes. A few are an error of some program.
  const zeros = start.split('\0').length - 1
  if (!known && zeros > start.length * MAX_SHARE_OF_ZEROS) {
    const advice = 'use CSV, NDJSON or one address per line. For UTF-16, use --encoding utf-16le or utf-16be'
    throw new Failure(`${name}: it is not a text file: ${advice}`)
  }
  const label = (known ?? 'UTF-8') as Bun.Encoding
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes)
  } catch (error) {
    if (error instanceof RangeError) {
      throw new UsageError(`--encoding is "${label}": use a label of the Encoding standard, such as windows-1252`)
    }
    const other = known ? '' : ', or name its encoding, such as --encoding windows-1252 (Western Europe)'
    // What is not in the encoding becomes U+FFFD.
    const valid = new TextDecoder(label).decode(bytes).split('\ufffd', 1)[0] ?? ''
    const line = valid.split('\n').length
    throw new Failure(`${name}: line ${line}: it is not ${label}. Save it as UTF-8${other}`)
  }
}
