/** What a spreadsheet takes for a formula (OWASP, CSV Injection), and how CSV is quoted (RFC 4180). */

import { expect, test } from 'bun:test'
import type { Address } from '../../../src/email.ts'
import { createWriter, toCsvRow } from '../../../src/transfer/writing/formats.ts'

const toPage = (email: string) => [{ seq: 1, email: email as Address, subscribedAt: new Date(0) }]

test.each(['=', '+', '-'])('an address that begins with %s is a formula, and gets an apostrophe', (sign) => {
  const email = `${sign}ada@mail.io`
  expect(createWriter('csv', { spreadsheetSafe: true }).toText(toPage(email))).toStartWith(`'${email},`)
  expect(createWriter('csv').toText(toPage(email))).toStartWith(`${email},`)
})

test.each(['ada@mail.io', "'ada@mail.io", 'a=b@mail.io', 'a+b@mail.io'])('%s is no formula', (email) => {
  expect(createWriter('csv', { spreadsheetSafe: true }).toText(toPage(email))).toStartWith(`${email},`)
})

test('cells with commas, quotes and line breaks are quoted', () => {
  expect(toCsvRow(['a', 'b,c', 'd"e', 'f\ng', 'h\ri'])).toBe('a,"b,c","d""e","f\ng","h\ri"\r\n')
})
