/** The exports of other programs: nobody who left is added, and only subscribers are. */

import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { RULES } from '../../src/transfer/reading/programs.ts'
import { readText as readFile } from '../../src/transfer/reading/text.ts'
import { STATUSES, toPlain, toWords } from '../../src/transfer/reading/words.ts'
import { readText } from '../support/markdown.ts'
import { read } from './read.ts'

const FOLDER = join(import.meta.dir, 'fixtures')

/** What an import finds in each file: the columns of the date and of the status, and the dates of those who left. */
const EXPECTED: readonly (readonly [file: string, date: string, status: string, dates?: string])[] = [
  ['activecampaign.csv', 'Date Created', 'Status'],
  ['beehiiv.csv', 'created_at', 'status, unsubscribed_at', '2024-03-13T11:33:53.000Z'],
  ['brevo.csv', 'ADDED_TIME', 'OPT_IN, EMAIL_BLACKLISTED'],
  ['buttondown.csv', 'creation_date', 'type, unsubscription_date', '2023-02-03T04:05:06.000Z'],
  ['campaign-monitor.csv', 'Date Subscribed', 'State'],
  ['ghost.csv', 'created_at', 'subscribed_to_emails, deleted_at', '2024-05-01T08:00:00.000Z'],
  ['google-groups.csv', '', 'Group status, Email status, Email preference'],
  ['hubspot-full.csv', 'Create Date', 'Unsubscribed from all email'],
  ['hubspot-opt-outs.csv', '', 'Portal Bounce, Portal Unsubscribe, Portal Spam Report, Global Bounce'],
  ['hubspot.csv', 'Create Date', 'Unsubscribed from all email'],
  ['keila.csv', '', 'Status'],
  ['kit-full.csv', 'created_at', 'status'],
  ['kit.csv', 'created_at', 'status'],
  ['kit.ndjson', 'created_at', 'state'],
  ['klaviyo.csv', 'Email Marketing Consent Timestamp', 'Email Marketing Consent'],
  ['listmonk.csv', 'created_at', 'status'],
  ['mailchimp-cleaned.csv', 'OPTIN_TIME, CONFIRM_TIME', 'CLEAN_TIME', '2020-03-24T07:30:05.000Z'],
  ['mailchimp-subscribed.csv', 'OPTIN_TIME, CONFIRM_TIME', ''],
  ['mailchimp-unsubscribed.csv', 'OPTIN_TIME, CONFIRM_TIME', 'UNSUB_TIME', '2019-07-24T02:19:27.000Z'],
  ['mailerlite-classic.ndjson', 'date_subscribe', 'type, date_unsubscribe', '2017-05-06T02:07:26.000Z'],
  ['mailerlite.csv', 'Subscribed', 'Status, Subscribed'],
  ['mailpoet-full.csv', '', 'List status, Global status'],
  ['mailpoet.csv', 'Subscription time', 'List status, Global status'],
  ['mailtrain.csv', '', 'status'],
  ['phplist.csv', 'Entered', 'Is this subscriber confirmed, Is this subscriber blacklisted, Is this account disabled?'],
  ['sendy.csv', 'Joined', 'Status'],
  ['shopify.csv', '', 'Accepts Email Marketing'],
  ['substack-details.csv', 'Start date', ''],
  ['substack.csv', 'created_at', 'email_disabled'],
  ['tinyletter.csv', 'Time Subscribed', 'Subscriber Type'],
  ['wix.csv', 'Created At (UTC+0)', 'Email subscriber status'],
]

test.each(EXPECTED.map(([file, date, status, dates = '']) => [file, date, status, dates] as const))(
  '%s: subscribers are added, people who left are suppressed, others are skipped',
  async (file, date, status, dates) => {
    const text = await readFile(join(FOLDER, file))
    const named = (start: string): string[] => text.match(new RegExp(`${start}\\.\\d+@example\\.com`, 'g')) ?? []
    const { subscribers, optOuts, skipped, rejected, ...columns } = read(text)
    expect(subscribers.map(({ email }) => email as string)).toEqual(named('subscribed'))
    expect(optOuts.map(({ email }) => email as string)).toEqual(named('suppressed'))
    expect({ skipped, rejected }).toEqual({ skipped: named('skip').length, rejected: [] })
    expect([columns.date, columns.status]).toEqual([date, status])
    // Without a date of its own, an opt-out has the date of the subscription in its row. A time without a zone may be 14 hours later.
    const left = optOuts.flatMap(({ optedOutAt }) => optedOutAt?.toISOString() ?? [])
    expect(left).toHaveLength(date || dates ? optOuts.length : 0)
    expect(left).toEqual(expect.arrayContaining(dates.split(', ').filter(Boolean)))
  },
)

test('there is a file for each program', () => {
  const files = readdirSync(FOLDER).filter((file) => file !== 'README.md')
  expect(files.toSorted()).toEqual(EXPECTED.map(([file]) => file))
  const programs = [...new Set(RULES.map(({ program }) => toPlain(program)))].filter((name) => name !== 'otherprograms')
  expect(programs.filter((program) => !files.some((file) => toPlain(file).startsWith(program)))).toEqual([])
})

describe('the table of statuses', () => {
  test('has each program in docs/import.md, with its columns', () => {
    const text = readText('docs/import.md')
    for (const { program, columns } of RULES.filter((rule) => rule.program !== 'Other programs')) {
      expect(text).toContain(`| ${program} |`)
      for (const column of columns) expect(text).toContain(`\`${column}\``)
    }
  })

  test('gives each value one meaning under a name', () => {
    const meanings = RULES.flatMap((rule) =>
      rule.columns.flatMap((column) =>
        STATUSES.flatMap((status) =>
          (rule[status] ?? []).map((value) => ({ key: `${toPlain(column)}=${toPlain(value)} ${rule.with}`, status })),
        ),
      ),
    )
    for (const [key, same] of Map.groupBy(meanings, (meaning) => meaning.key)) {
      expect([key, ...new Set(same.map(({ status }) => status))]).toHaveLength(2)
    }
  })

  test('gives each word one meaning in all languages', () => {
    const kinds = [...STATUSES, 'yes', 'no', 'on', 'off'] as const
    const all = kinds.flatMap((kind) => [...toWords(kind)])
    expect(all.filter((word, index) => all.indexOf(word) !== index)).toEqual([])
  })
})
