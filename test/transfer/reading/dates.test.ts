/** Dates in the forms that other programs write. */

import { expect, test } from 'bun:test'
import { parseDate } from '../../../src/transfer/reading/dates.ts'

test.each([
  ['2024-05-31', '2024-05-31T00:00:00.000Z'],
  ['2024-05-31T12:34:56Z', '2024-05-31T12:34:56.000Z'],
  ['2024-05-31T12:34:56.789123+02:00', '2024-05-31T10:34:56.789Z'],
  ['2024-05-31T12:34:56-0530', '2024-05-31T18:04:56.000Z'],
  ['2024-05-31 12:34:56.123456+00', '2024-05-31T12:34:56.123Z'],
  ['2024-05-31 12:34:56 UTC', '2024-05-31T12:34:56.000Z'],
  ['2024/05/31 12:34:56', '2024-05-31T12:34:56.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['1717158896', '2024-05-31T12:34:56.000Z'],
  ['1717158896.5', '2024-05-31T12:34:56.500Z'],
  ['1717158896789', '2024-05-31T12:34:56.789Z'],
  ['Fri, 31 May 2024 12:34:56 +0000', '2024-05-31T12:34:56.000Z'],
  ['May 31, 2024', '2024-05-31T00:00:00.000Z'],
  ['May 31, 2024 12:34 PM', '2024-05-31T12:34:00.000Z'],
  ['31-May-2024', '2024-05-31T00:00:00.000Z'],
  ['31.5.2024', '2024-05-31T00:00:00.000Z'],
  ['01.02.2024 03:04', '2024-02-01T03:04:00.000Z'],
  ['5/31/2024', '2024-05-31T00:00:00.000Z'],
  ['5/5/2024 1:02 PM', '2024-05-05T13:02:00.000Z'],
  ['5/31/2024 12:00 AM', '2024-05-31T00:00:00.000Z'],
  ['2026/05/28 7:01:33 PM GMT+2', '2026-05-28T17:01:33.000Z'],
  ['2024-05-31 12:34:56 UTC-05:30', '2024-05-31T18:04:56.000Z'],
  ['2024-05-31 12:34:56.123456 +0000 UTC', '2024-05-31T12:34:56.123Z'],
  ['2024-05-31 12:34:56 +0530 IST', '2024-05-31T07:04:56.000Z'],
  ['2024-05-31 23:59:60', '2024-06-01T00:00:00.000Z'],
])('%j is %s', (text, iso) => {
  expect(parseDate(text)).toEqual({ ok: true, value: new Date(iso) })
})

test.each(['', '  ', '0000-00-00 00:00:00', 'NULL', '\\N', 'N/A'])('%j is an empty date', (value) => {
  expect(parseDate(value)).toEqual({ ok: true, value: undefined })
})

test.each([
  ['1/2/2024', 'may be day/month or month/day'],
  ['01-02-2024', 'may be day/month or month/day'],
  ['13/13/2024', 'does not exist'],
  ['2024-02-30', 'does not exist'],
  ['2023-02-29', 'does not exist'],
  ['2024-01-01T24:01:00', 'does not exist'],
  ['5/31/2024 13:00 PM', 'does not exist'],
  ['2999-01-01', 'in the future'],
  ['1066-10-14', 'before 1971'],
  ['yesterday', 'the format of the date is not known: use 2024-05-31T12:34:56Z, or --date-column none'],
  ['05/31/24', 'the format of the date is not known'],
  ['20240531', 'the format of the date is not known'],
])('%j is invalid: %s', (value, reason) => {
  expect(parseDate(value)).toEqual({ ok: false, reason: expect.stringContaining(reason) })
})

test.each([
  ['1/2/2024', 'dmy', '2024-02-01T00:00:00.000Z'],
  ['1/2/2024', 'mdy', '2024-01-02T00:00:00.000Z'],
  ['01-02-2024 3:04 PM', 'mdy', '2024-01-02T15:04:00.000Z'],
  ['2024-02-01', 'mdy', '2024-02-01T00:00:00.000Z'],
  ['1.2.2024', 'mdy', '2024-02-01T00:00:00.000Z'],
] as const)('%j in the order %s is %s', (text, order, iso) => {
  expect(parseDate(text, order)).toEqual({ ok: true, value: new Date(iso) })
})
