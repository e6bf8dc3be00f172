/** Dates in the forms that other programs write. */

import { expect, test } from 'bun:test'
import { parseDate } from '../../../src/transfer/reading/dates.ts'

test.each([
  ['2024-05-31', '2024-05-31T00:00:00.000Z'],
  ['2024-05-31Z', '2024-05-31T00:00:00.000Z'],
  ['May 31, 2024 UTC', '2024-05-31T00:00:00.000Z'],
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
  ['5/31/24', '2024-05-31T00:00:00.000Z'],
  ['05/31/24 03:30 AM', '2024-05-31T03:30:00.000Z'],
  ['31.05.24', '2024-05-31T00:00:00.000Z'],
  ['31.05.99', '1999-05-31T00:00:00.000Z'],
  ['31-May-24', '2024-05-31T00:00:00.000Z'],
  ['Sept 3, 2024', '2024-09-03T00:00:00.000Z'],
  ['31. Mai 2024, 18:15', '2024-05-31T18:15:00.000Z'],
  ['3. Mrz 2024', '2024-03-03T00:00:00.000Z'],
  ['1 août 2023', '2023-08-01T00:00:00.000Z'],
  ['3 juil. 2023', '2023-07-03T00:00:00.000Z'],
  ['31 de mayo de 2024', '2024-05-31T00:00:00.000Z'],
  ['31 maggio 2024', '2024-05-31T00:00:00.000Z'],
  ['31 mei 2024', '2024-05-31T00:00:00.000Z'],
  ['31 maja 2024', '2024-05-31T00:00:00.000Z'],
  ['31 de mai. de 2024', '2024-05-31T00:00:00.000Z'],
  ['31 травня 2024 р.', '2024-05-31T00:00:00.000Z'],
  ['31 مايو 2024', '2024-05-31T00:00:00.000Z'],
  ['2024年5月31日', '2024-05-31T00:00:00.000Z'],
  ['2024年5月31日下午3:04', '2024-05-31T15:04:00.000Z'],
  ['2024年05月31日 15時04分', '2024-05-31T15:04:00.000Z'],
  ['٣١ مايو ٢٠٢٤ ٣:٠٤ م', '2024-05-31T15:04:00.000Z'],
  ['2024-05-31T15:04:00Z[UTC]', '2024-05-31T15:04:00.000Z'],
  ['2024-05-31T17:04:00+02:00[Europe/Berlin]', '2024-05-31T15:04:00.000Z'],
  ['2024-05-31 23:59:60', '2024-06-01T00:00:00.000Z'],
  ['2024/05/31 9:00:12 a. m. GMT-6', '2024-05-31T15:00:12.000Z'],
  ['2024/06/02 12:15:00 p.\u00a0m. GMT-6', '2024-06-02T18:15:00.000Z'],
  ['2024/05/31, 2:10:22\u202fPM', '2024-05-31T14:10:22.000Z'],
  ['2024/5/31 上午 9:00:12 [GMT+8]', '2024-05-31T01:00:12.000Z'],
  ['2024年5月31日 午後3:00', '2024-05-31T15:00:00.000Z'],
  ['2024-05-31 09:00 EST', '2024-05-31T14:00:00.000Z'],
  ['2024-05-31 09:00 MESZ', '2024-05-31T07:00:00.000Z'],
  ['2024-05-31 09:00:00 OEZ', '2024-05-31T07:00:00.000Z'],
  ['Mon Mar 11 2024 17:24:25 GMT-0300 (Horário Padrão de Brasília)', '2024-03-11T20:24:25.000Z'],
  ['Fri May 31 2024', '2024-05-31T00:00:00.000Z'],
  ['Fri May 31 09:00:00 UTC 2024', '2024-05-31T09:00:00.000Z'],
  ['Fri May 31 09:00:00 2024', '2024-05-31T09:00:00.000Z'],
  ['Freitag, 31. Mai 2024 um 09:00 Uhr', '2024-05-31T09:00:00.000Z'],
  ['vendredi 31 mai 2024 à 09h30', '2024-05-31T09:30:00.000Z'],
  ['viernes, 31 de mayo de 2024, 9:00 p. m.', '2024-05-31T21:00:00.000Z'],
  ['May 31, 2024 at 9:00 AM', '2024-05-31T09:00:00.000Z'],
])('%j is %s', (text, iso) => {
  expect(parseDate(text)).toMatchObject({ ok: true, value: new Date(iso) })
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
  ['1/2/24', 'may be day/month or month/day'],
  ['31-05-24', 'the format of the date is not known'],
  ['31 Foo 2024', 'does not exist'],
  ['20240531', 'the format of the date is not known'],
  ['2024-05-31 09:00:00 IST', 'the format of the date is not known'],
  ['2024-05-31 09:00 (PDT)', 'the format of the date is not known'],
  ['2024-05-31T09:00:00[Europe/Berlin]', 'the format of the date is not known'],
  ['45443', 'the date may be a number of Excel: name its column with --date-column'],
])('%j is invalid: %s', (value, reason) => {
  expect(parseDate(value)).toMatchObject({ ok: false, reason: expect.stringContaining(reason) })
})

test.each([
  ['31/5/2024', 'dmy'],
  ['5-31-2024 3:04 PM', 'mdy'],
  ['1/2/2024', undefined],
  ['31.5.2024', undefined],
  ['2024-05-31', undefined],
] as const)('%j shows the order %s', (text, order) => expect(parseDate(text).order).toBe(order))

test('a cell of many spaces takes no time', () => {
  expect(parseDate(`1${' '.repeat(1_000_000)}2`)).toMatchObject({ ok: false })
})

test('a date of the next 24 hours is one of a zone east of UTC, and counts as now', () => {
  const before = Date.now()
  const toTime = (hours: number) => parseDate(new Date(before + hours * 3_600_000).toISOString())
  expect(toTime(25)).toEqual({ ok: false, reason: 'the date is in the future' })
  for (const hours of [1, 23]) {
    const date = toTime(hours)
    expect(Number(date.ok && date.value)).toBeWithin(before, Date.now() + 1)
  }
})

test.each([
  ['1/2/2024', 'dmy', '2024-02-01T00:00:00.000Z'],
  ['1/2/2024', 'mdy', '2024-01-02T00:00:00.000Z'],
  ['01-02-2024 3:04 PM', 'mdy', '2024-01-02T15:04:00.000Z'],
  ['2024-02-01', 'mdy', '2024-02-01T00:00:00.000Z'],
  ['1.2.2024', 'mdy', '2024-02-01T00:00:00.000Z'],
] as const)('%j in the order %s is %s', (text, order, iso) => {
  expect(parseDate(text, { order })).toMatchObject({ ok: true, value: new Date(iso) })
})

test.each([
  ['45443', '2024-05-31T00:00:00.000Z'],
  ['45443.375', '2024-05-31T09:00:00.000Z'],
  ['45443,5', '2024-05-31T12:00:00.000Z'],
])('the number %j of Excel is %s, where the owner names the column', (text, iso) => {
  expect(parseDate(text, { serials: true })).toMatchObject({ ok: true, value: new Date(iso) })
})

test.each([
  ['2024-05-31', '2024-05-31T23:59:59.999Z'],
  ['31.5.2024', '2024-05-31T23:59:59.999Z'],
  ['45443', '2024-05-31T23:59:59.999Z'],
  ['2024-05-31 10:30:00', '2024-06-01T00:30:00.000Z'],
  ['45443.5', '2024-06-01T02:00:00.000Z'],
  ['2024-05-31T10:30:00Z', '2024-05-31T10:30:00.000Z'],
  ['2024-05-31 10:30 CEST', '2024-05-31T08:30:00.000Z'],
  ['1717167840', '2024-05-31T15:04:00.000Z'],
])('%j may be as late as %s', (text, iso) => {
  expect(parseDate(text, { serials: true })).toMatchObject({ latest: new Date(iso) })
})
