/** Files that other importers read wrong, with invented people: each outcome is what its row says. */

import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readText } from '../../src/transfer/reading/text.ts'
import type { Options } from './read.ts'
import { read } from './read.ts'

const FOLDER = join(import.meta.dir, 'cases')

interface Outcome {
  /** Local parts and times, or days when it is midnight. */
  readonly added?: string
  readonly left?: string
  readonly skipped?: number
  /** The lines and cells of rejected rows. */
  readonly rejected?: string
  /** A part of each doubt. */
  readonly doubts?: readonly string[]
}

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  '03-mailgun-unsubscribes.csv': {
    added: 'greta.holm 2024-05-31T09:00:00, ivo 2024-06-01T10:30:00, markus 2024-06-02T11:45:00',
    doubts: [
      'the name of the file says that people left, but nothing in it says who left: --suppress if everybody left',
    ],
  },
  '04-google-form-es.csv': {
    added: 'ines 2024-05-31T15:00:12, raul 2024-06-01T23:08:12, olga 2024-06-02T18:15:00',
  },
  '06-phplist.csv': { added: 'ada 2019-03-02T10:11:12', left: 'cai', skipped: 2 },
  '09-google-contacts.csv': { added: 'ada, ada, ben, cai, dot', doubts: ['"E-mail 2 - Value" has 1 address'] },
  '10-outlook-recipients.txt': { added: 'ada, ben, cai' },
  '13-excel-whole-row.csv': {
    added: 'ada 2024-05-31',
    left: 'ben',
    skipped: 1,
    doubts: ['1 row without a value of "status" will be skipped: --treat status:=subscribed'],
  },
  '14-excel-mac-cr.csv': { added: 'ada, cai', left: 'ben' },
  '16-listmonk-export.csv': {
    added: 'ada 2024-05-31T09:00:00, ben-unsubscribed-from-list 2024-06-01T09:00:00',
    doubts: ['exports of listmonk do not say who left one list'],
  },
  '17-nopcommerce.csv': {
    added: 'ada, ben, cai',
    doubts: ['nothing in it says who left, and "column 2" (line 2 "False"), "column 3" are'],
  },
  '18-first-row-typo.csv': {
    added: 'ben, cai',
    rejected: '1 ada@kestrelpost',
    doubts: ['nothing in it says who left, and "column 2" is', 'rejected are 1 of 3 rows'],
  },
  '19-links-notion.csv': { added: 'ada, ben+news, cai, dot, eve, fay, fay' },
  '20-api.json': { added: 'ada 2024-05-31T09:00:00', skipped: 1 },
  '20c-array.json': { added: 'ada, ben' },
  '21-js-dates.csv': {
    added: 'ada 2024-03-11T20:24:25, cai 2024-05-31T09:00:00',
    rejected: '3 1/6/2023, 2:10:22\u202fPM',
    doubts: ['1 date may be day/month or month/day: --date-order dmy, or mdy', 'rejected are 1 of 3 rows'],
  },
  '23-crm-owner.csv': {
    added: 'greta.holm, ada',
    rejected: '3 none, 4 unknown, 6 no email',
    doubts: ['rejected are 3 of 5 rows', '"Account owner" has 5 addresses'],
  },
  '29-concatenated.csv': {
    added: 'ada 2019-05-31, cai 2019-06-02, dot 2019-06-03',
    rejected: '3 ben@lindenhof-verlag.de',
    doubts: ['rejected are 1 of 4 rows'],
  },
  '30-submitted-on.csv': {
    added: 'ada, ben',
    doubts: ['no date is read, and none can be added later'],
  },
}

/** Files of other kinds, and what to do with them. */
const REFUSED = {
  '01-thunderbird.ldif': 'it is an address book (LDIF): export it as CSV',
  '12-list.rtf': 'it is not plain text (RTF): save it as plain text',
}

async function summarize(file: string, options: Options = {}) {
  const { subscribers, optOuts, skipped, rejected, doubts, counts } = read(
    await readText(join(FOLDER, file)),
    options,
    file,
  )
  const { all, ...kinds } = counts
  expect(Object.values(kinds).reduce((sum, count) => sum + count)).toBe(all)
  const toTime = (date?: Date) =>
    date
      ?.toISOString()
      .replace(/\.\d+Z$/, '')
      .replace('T00:00:00', '')
  const toName = (email: string) => email.replace(/@.*/, '')
  return {
    added: subscribers
      .map(({ email, subscribedAt }) => [toName(email), toTime(subscribedAt)].join(' ').trim())
      .join(', '),
    left: optOuts.map(({ email }) => toName(email)).join(', '),
    skipped,
    rejected: rejected.map(({ line, cell }) => `${line} ${cell}`).join(', '),
    doubts,
  }
}

test.each(Object.entries(OUTCOMES))('%s', async (file, { doubts = [], ...outcome }) => {
  const found = await summarize(file)
  expect(found).toMatchObject({ added: '', left: '', skipped: 0, rejected: '', ...outcome })
  expect(found.doubts).toEqual(doubts.map((doubt) => expect.stringContaining(doubt)))
})

test('the order of dates is an option', async () => {
  const { added } = await summarize('21-js-dates.csv', { dateOrder: 'dmy' })
  expect(added).toContain('ben 2023-06-01T14:10:22')
})

test.each(Object.entries(REFUSED))('%s is refused', async (file, advice) => {
  await expect(readText(join(FOLDER, file))).rejects.toThrow(advice)
})

test('every file has an outcome', () => {
  expect(readdirSync(FOLDER).toSorted()).toEqual([...Object.keys(OUTCOMES), ...Object.keys(REFUSED)].toSorted())
})
