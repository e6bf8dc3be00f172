/** Files become text, or an error says what to do. */

import { describe, expect, onTestFinished, test } from 'bun:test'
import { open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { decodeText, readText } from '../../../src/transfer/reading/text.ts'
import { createFolder } from '../../support/workspace.ts'

const TEXT = 'email,name\na@site.io,Jürgen\n'
const latin1 = Buffer.from(TEXT, 'latin1')
const utf16 = Buffer.from(TEXT, 'utf16le')
const MARK = Buffer.from('\ufeff', 'utf16le')

test.each<readonly [string, Uint8Array, string | undefined]>([
  ['UTF-8', Buffer.from(TEXT), undefined],
  ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${TEXT}`), undefined],
  ['a byte order mark, and another encoding', Buffer.from(`\ufeff${TEXT}`), 'windows-1252'],
  ['UTF-16 with a byte order mark', Buffer.concat([MARK, utf16]), undefined],
  ['UTF-16, big-endian', Buffer.concat([MARK, utf16]).swap16(), undefined],
  ['UTF-16 without a byte order mark', utf16, 'utf-16le'],
  ['Latin-1', latin1, 'windows-1252'],
])('%s', (_, bytes, encoding) => expect(decodeText(bytes, 'list', encoding)).toBe(TEXT))

test.each([
  ['shift_jis', [0x93, 0xfa, 0x96, 0x7b], '日本'],
  ['gb18030', [0xd6, 0xd0, 0xce, 0xc4], '中文'],
])('any label of the Encoding standard: %s', (encoding, bytes, text) => {
  expect(decodeText(Uint8Array.from(bytes), 'list', encoding)).toBe(text)
})

const toZip = (name: string) => Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(26), Buffer.from(name)])

describe('a file that is not text', () => {
  test.each<readonly [string, Uint8Array, string]>([
    [
      'an Excel file',
      toZip('[Content_Types].xml'),
      'it is a spreadsheet or a zip archive: save it as CSV (UTF-8) there, or unpack it',
    ],
    ['an old Excel file', Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'it is an Excel spreadsheet: save it as CSV'],
    ['a gzip file', gzipSync(TEXT), 'it is a compressed file: unpack it first'],
    ['an xz file', Buffer.from('fd377a585a000004', 'hex'), 'it is a compressed file: unpack it first'],
    ['a database', Buffer.from('SQLite format 3\0'), 'it is a database or a PDF file: export the list as CSV'],
    ['UTF-16', utf16, 'it is not a text file: use CSV, NDJSON or one address per line. For UTF-16, use --encoding utf'],
    ['bytes', Buffer.from('7f454c460201010000000000000000000300', 'hex'), 'it is not a text file: use CSV, NDJSON or'],
    [
      'Latin-1',
      latin1,
      'line 2: it is not UTF-8. Save it as UTF-8, or name its encoding, such as --encoding windows-1252',
    ],
  ])('%s', (_, bytes, message) => expect(() => decodeText(bytes, 'list')).toThrow(`list: ${message}`))

  test.each([
    ['version: 1\n\ndn: cn=Ada\n', 'it is an address book (LDIF): export it as CSV there'],
    ['# comment\ndn:: Y249\n', 'it is an address book (LDIF)'],
    ['begin:vcard\nEMAIL:a@site.io\n', 'it is a file of contacts (vCard)'],
    ['From a@site.io Fri May 31 09:00:00 2024\n', 'it is a file of mails'],
    ['Return-Path: <a@site.io>\r\n', 'it is a file of mails'],
    ['From - Fri May 31 09:00:00 2024\nX-Mozilla-Status: 1\n', 'it is a file of mails'],
    ['From MAILER-DAEMON Fri May 31 09:00:00 2024\n', 'it is a file of mails'],
    ['Content-Type: text/plain\nFrom: a@site.io\n', 'it is a file of mails'],
    ['# by slapcat\n\nversion: 1\n\ndn:uid=ada\n', 'it is an address book (LDIF)'],
    ['--\n-- Dump\n\nSET a = 0;\nSELECT b;\nSTART TRANSACTION;\nCOPY public.s (e)', 'it is a dump of a database'],
    ['{\\rtf1\\ansi a@site.io}', 'it is not plain text (RTF): save it as plain text'],
    ['\n <!DOCTYPE html>\n<table>', 'it is a web page (HTML) or XML: open it in a spreadsheet, and save it as CSV'],
    ['<html xmlns:x="urn:excel"><body>a@site.io', 'it is a web page (HTML) or XML'],
    ['<table border=1><tr><td>a@site.io</td>', 'it is a web page (HTML) or XML'],
    ['<?xml version="1.0"?>\n<Workbook/>', 'it is a web page (HTML) or XML'],
    ['{"":"WARNING","doc_id":"1","email":"a@site.io"}', 'it is a shortcut to a document: open the document'],
    ['[InternetShortcut]\nURL=https://site.io\n', 'it is a shortcut to a document'],
    ['date 1717146000\ngecos Ada\nemail a@site.io\n\n', 'it is a dump of Sympa: use the dump that has one address'],
    ['[["vcard",[["version",{},"text","4.0"]]]]', 'it is a file of contacts (vCard): export them as CSV there'],
    ['-- MySQL dump 10\n--\nINSERT INTO `users` VALUES', 'it is a dump of a database: export the table as CSV'],
  ])('%j', (text, message) => expect(() => decodeText(Buffer.from(text), 'list')).toThrow(`list: ${message}`))

  test.each([
    '<a@site.io>\n',
    'email address\na@site.io\n',
    'date,email\n',
    '# a list\na@site.io\n',
    '[{"email":1}]',
    'a|b\n-|a@site.io\n',
    '-a@site.io\n',
    'Readers\n---\nemail\n',
  ])('is not %j', (text) => expect(decodeText(Buffer.from(text), 'list')).toBe(text))

  test('or is in another encoding than the one given', () => {
    expect(() => decodeText(Buffer.from([0x81, 0x20]), 'list', 'shift_jis')).toThrow(
      'list: line 1: it is not shift_jis. Save it as UTF-8',
    )
    expect(() => decodeText(latin1, 'list', 'utf-8')).toThrow(/Save it as UTF-8$/)
    const unknown = '--encoding is "latin-9000": use a label of the Encoding standard, such as windows-1252'
    expect(() => decodeText(latin1, 'list', 'latin-9000')).toThrow(unknown)
  })
})

test('a file that cannot be read, or is larger than 512 MiB, is refused', async () => {
  const folder = await createFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'list.csv')
  await expect(readText(file)).rejects.toThrow(`${file}: there is no such file or folder`)
  await expect(readText(folder)).rejects.toThrow(`${folder}: it is a folder`)
  await writeFile(file, TEXT)
  expect(await readText(file)).toBe(TEXT)
  const handle = await open(file, 'r+')
  await handle.truncate(512 * 1024 * 1024 + 1)
  await handle.close()
  await expect(readText(file)).rejects.toThrow(`${file}: it is larger than 512 MiB. Split it`)
  await expect(readText('/dev/zero')).rejects.toThrow('/dev/zero: it is larger than 512 MiB')
})
