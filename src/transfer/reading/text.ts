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

/**
 * Reads a text file, or standard input for `-`.
 *
 * @throws Failure for one with more than MAX_IMPORT_BYTES, or that cannot be read, and as `decodeText`
 */
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

/** A kind of file that is not a list. */
interface RefusedKind {
  /** How such files begin. Each pattern is compared with their first bytes as Latin-1, without zeros. `[^ -\xff]` is a control. */
  readonly starts: readonly RegExp[]
  /** What it is, and what to do. */
  readonly message: string
}

// biome-ignore format: one pattern on a line
const REFUSED: readonly RefusedKind[] = [
  { message: 'a spreadsheet or a zip archive: save it as CSV (UTF-8) there, or unpack it',
    starts: [
      // `PK\x03\x04`: .xlsx, .ods, .numbers and .zip.
      /^PK[^ -\xff]{2}/,
    ] },
  { message: 'an Excel spreadsheet: save it as CSV (UTF-8) there, and use that file',
    starts: [
      // `\xd0\xcf\x11\xe0`: .xls of before 2007.
      /^\xd0\xcf[^ -\xff]\xe0/,
    ] },
  { message: 'a compressed file: unpack it first',
    starts: [
      // gzip: `\x1f\x8b`.
      /^[^ -\xff]\x8b/,
      // xz.
      /^\xfd7zXZ/,
      // bzip2: `BZh9`.
      /^BZh/,
      // zstd.
      /^\(\xb5\/\xfd/,
      // 7z.
      /^7z\xbc\xaf/,
    ] },
  { message: 'a database or a PDF file: export the list as CSV instead',
    starts: [
      /^SQLite format 3/,
      // `%PDF-1.7`.
      /^%PDF-/,
    ] },
  { message: 'an address book (LDIF): export it as CSV there',
    starts: [
      // `dn: cn=Ann`, or `dn:: Y249QW5u` in base64, below lines such as `version: 1` and `# A comment`.
      /^(?:(?:version:|#)[^\n]*\n+)*dn::? *[\w.=]/i,
      // Thunderbird's address book of earlier days (Mork): `// <!-- <mdb:mork:z v="1.4"/> -->`.
      /^\/\/ <!-- <mdb/i,
    ] },
  { message: 'a file of contacts (vCard): export them as CSV there',
    starts: [
      // `BEGIN:VCARD`, or a calendar.
      /^BEGIN:V(?:CARD|CALENDAR)/i,
      // The same in JSON: `["vcard", [["version", …`, or a list of such contacts.
      /^[[\s]+"vcard"/i,
    ] },
  { message: 'a file of mails: export the addresses as CSV instead',
    starts: [
      // mbox: `From ann@example.org Fri May 31 12:34:56 2024`.
      /^From \S+ .*\d{4}\s/i,
      // The first field of a mail: `Received: from mail.example.org`.
      /^(?:Reporting-MTA|Content-Type|Sender|Reply-To|List-\w+|Return-Path|Received|Delivered-To|Message-ID|MIME-Version|From|To|Cc|Date|Subject|X-[\w-]+): /i,
    ] },
  { message: 'not plain text (RTF): save it as plain text there',
    starts: [
      // `{\rtf1\ansi`.
      /^\{\\rtf/,
    ] },
  { message: 'a web page (HTML) or XML: open it in a spreadsheet, and save it as CSV (UTF-8)',
    starts: [
      // `<html lang="en">` or `<table>`, but not `<ann@example.org>`, which is an address.
      /^<[!?]?[a-z][\w:.-]*(?:\s[^@]*)?\/?>/i,
      // `<!DOCTYPE html>`, `<!-- a comment -->` or `<?xml version="1.0"?>`, whatever follows.
      /^<(?:!DOCTYPE|!--|\?xml)/i,
    ] },
  { message: 'a shortcut to a document: open the document, and download it as CSV',
    starts: [
      // .webloc of macOS.
      /^bplist00/i,
      // .lnk of Windows: `L\x01\x14\x02`, without its zeros.
      /^L[^ -\xff]{3}/i,
      // .url of Windows and .desktop of Linux.
      /^\[(?:InternetShortcut|Desktop Entry)\]/i,
      // .gsheet of Google Drive: `{"url": "https://…", "doc_id": "1a2b"}`.
      /^\{[^[\]]{0,500}"(?:doc_id|resource_id)"/i,
    ] },
  { message: 'a dump of Sympa: use the dump that has one address per line (light)',
    starts: [
      // `email ann@example.org`, also below lines such as `date 1717113600`.
      /^(?:[a-z_]+ [^\n]*\n)*email \S+@\S+ *\n/,
    ] },
  { message: 'a dump of a database: export the table as CSV',
    starts: [
      // `INSERT INTO people`, below lines such as `-- MySQL dump` and `SET NAMES utf8;`.
      /^(?:(?:--|\/\*|SET |SELECT |USE |LOCK |START |PRAGMA |BEGIN)[^\n]*\n+)*(?:INSERT INTO|CREATE TABLE|DROP TABLE|COPY \S+ \()/i,
    ] },
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
  const refused = REFUSED.find(({ starts }) => starts.some((pattern) => pattern.test(plain)))
  if (refused) throw new Failure(`${name}: it is ${refused.message}`)
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
