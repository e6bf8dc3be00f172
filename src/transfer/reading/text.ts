/** The text of a file: read into memory and decoded. Says what to do with a file that is not text. */

import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { Failure, toFileFailure } from '../../failure.ts'
import { MAX_IMPORT_BYTES } from '../../limits.ts'

/** The name of an input in messages. */
export function toInputName(file: string): string {
  return file === '-' ? 'standard input' : file
}

/**
 * Reads a text file, or standard input for `-`. Throws a Failure when it has more than MAX_IMPORT_BYTES or is not text.
 *
 * @param encoding the name of an encoding in the Encoding standard, for a file without a byte order mark. Default: UTF-8
 */
export async function readText(file: string, encoding?: string): Promise<string> {
  const name = toInputName(file)
  try {
    const stats = file === '-' ? undefined : await stat(file)
    // A pipe has no size, and a stream of a file takes twice its memory.
    if (stats?.isFile() && stats.size <= MAX_IMPORT_BYTES) return decodeText(await readFile(file), name, encoding)
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
    if (bytes > MAX_IMPORT_BYTES) {
      const size = `${MAX_IMPORT_BYTES / 1024 ** 2} MiB`
      const advice = 'Split it, for example with "split -C 500m", and keep the header'
      throw new Failure(`${name}: it is larger than ${size}. ${advice}`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
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
  [/^(?:---[ \t]*\n|(?:[\w-]+:[ \t]*\n\s*)?[-*] )/, 'YAML or a list in Markdown: convert it to JSON, such as with "yq -o json", or to CSV'],
  [/^\+-+[-+]*\n|^[^\n]*\|[^\n]*\n *\|?[ :]*--[-:]* *[|+][-|+: ]*\n/,
    'a table of Markdown or of a terminal: save it as CSV'],
]

/** Byte order marks: WHATWG Encoding, section 6. */
const MARKS = { 'utf-8': '\xef\xbb\xbf', 'utf-16le': '\xff\xfe', 'utf-16be': '\xfe\xff' } as const

/** Decodes a list. A byte order mark counts more than `encoding`. @throws Failure that says what to do with another kind of file */
export function decodeText(bytes: Uint8Array, name: string, encoding?: string): string {
  const start = Buffer.from(bytes.subarray(0, 8192)).toString('latin1')
  const [marked, mark = ''] = Object.entries(MARKS).find(([, mark]) => start.startsWith(mark)) ?? []
  const plain = start.slice(mark.length).replaceAll('\0', '').trimStart().replace(/\r\n?/g, '\n')
  const [, message] = REFUSED.find(([pattern]) => pattern.test(plain)) ?? []
  if (message) throw new Failure(`${name}: it is ${message}`)
  const known = marked ?? encoding
  // Other encodings than UTF-16 have no zero bytes.
  if (!known && start.split('\0').length > 1 + start.length / 20) {
    const advice = 'use CSV, NDJSON or one address per line. For UTF-16, use --encoding utf-16le or utf-16be'
    throw new Failure(`${name}: it is not a text file: ${advice}`)
  }
  try {
    return new TextDecoder((known ?? 'utf-8') as Bun.Encoding, { fatal: true }).decode(bytes)
  } catch {
    if (known && known !== 'utf-8') throw new Failure(`${name}: it is not ${known}. Save it as UTF-8`)
    const other = encoding ? '' : ', or name its encoding, such as --encoding windows-1252 (Western Europe)'
    // What is not UTF-8 becomes U+FFFD.
    const [valid = ''] = new TextDecoder().decode(bytes).split('\ufffd', 1)
    throw new Failure(`${name}: line ${valid.split('\n').length}: it is not UTF-8. Save it as UTF-8${other}`)
  }
}
