/** The exports of other programs: nobody who left is added, and only subscribers are. */

import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { toPlain } from '../../src/transfer/reading/names.ts'
import { readList } from '../../src/transfer/reading/read-list.ts'
import { RULES } from '../../src/transfer/reading/statuses.ts'
import { readText as readFile } from '../../src/transfer/reading/text.ts'
import { STATUSES, toWords } from '../../src/transfer/reading/words.ts'
import { readText } from '../support/markdown.ts'

const FOLDER = join(import.meta.dir, 'fixtures')
const FILES = readdirSync(FOLDER)
  .filter((file) => file !== 'README.md')
  .sort()

/** The columns of each file, and the dates of the opt-outs that have one. */
const EXPECTED: Readonly<Record<string, { date: string[]; status: string[]; dates?: string[] }>> = {
  'activecampaign.csv': { date: ['Date Created'], status: ['Status'] },
  'beehiiv.csv': { date: ['created_at'], status: ['status', 'unsubscribed_at'], dates: ['2024-03-13T11:33:53.000Z'] },
  'brevo.csv': { date: ['ADDED_TIME'], status: ['EMAIL_BLACKLISTED'] },
  'buttondown.csv': {
    date: ['creation_date'],
    status: ['type', 'unsubscription_date'],
    dates: ['2023-02-03T04:05:06.000Z'],
  },
  'campaign-monitor.csv': { date: ['Date Subscribed'], status: ['State'] },
  'ghost.csv': {
    date: ['created_at'],
    status: ['subscribed_to_emails', 'deleted_at'],
    dates: ['2024-05-01T08:00:00.000Z'],
  },
  'google-groups.csv': { date: [], status: ['Group status', 'Email status', 'Email preference'] },
  'hubspot-opt-outs.csv': {
    date: [],
    status: ['Portal Bounce', 'Portal Unsubscribe', 'Portal Spam Report', 'Global Bounce'],
  },
  'hubspot.csv': { date: ['Create Date'], status: ['Unsubscribed from all email'] },
  'keila.csv': { date: [], status: ['Status'] },
  'kit.csv': { date: ['created_at'], status: ['status'] },
  'kit.ndjson': { date: ['created_at'], status: ['state'] },
  'listmonk.csv': { date: ['created_at'], status: ['status'] },
  'mailchimp-cleaned.csv': {
    date: ['OPTIN_TIME', 'CONFIRM_TIME'],
    status: ['CLEAN_TIME'],
    dates: ['2020-03-23T17:30:05.000Z'],
  },
  'mailchimp-subscribed.csv': { date: ['OPTIN_TIME', 'CONFIRM_TIME'], status: [] },
  'mailchimp-unsubscribed.csv': {
    date: ['OPTIN_TIME', 'CONFIRM_TIME'],
    status: ['UNSUB_TIME'],
    dates: ['2019-07-23T12:19:27.000Z'],
  },
  'mailerlite-classic.ndjson': {
    date: ['date_subscribe'],
    status: ['type', 'date_unsubscribe'],
    dates: ['2017-05-05T12:07:26.000Z'],
  },
  'mailerlite.csv': { date: ['Subscribed'], status: ['Status', 'Subscribed'] },
  'mailpoet.csv': { date: ['Subscription time'], status: ['List status', 'Global status'] },
  'mailtrain.csv': { date: [], status: ['status'] },
  'sendy.csv': { date: ['Joined'], status: ['Status'] },
  'shopify.csv': { date: [], status: ['Accepts Email Marketing'] },
  'substack.csv': { date: ['created_at'], status: ['email_disabled'] },
}

describe('the export', () => {
  test.each(FILES)('%s: subscribers are added, people who left are suppressed, others are skipped', async (file) => {
    const text = await readFile(join(FOLDER, file))
    const named = (start: string): string[] => text.match(new RegExp(`${start}\\.\\d+@example\\.com`, 'g')) ?? []
    const { subscribers, optOuts, skipped, rejected, columns } = readList(text, { name: file })
    expect(subscribers.map(({ email }) => email as string)).toEqual(named('subscribed'))
    expect(optOuts.map(({ email }) => email as string)).toEqual(named('suppressed'))
    expect({ skipped, rejected }).toEqual({ skipped: named('skip').length, rejected: [] })
    const { date, status, dates = [] } = EXPECTED[file]!
    expect(columns).toMatchObject({ date, status })
    expect(optOuts.flatMap(({ optedOutAt }) => optedOutAt?.toISOString() ?? [])).toEqual(dates)
  })

  test('has a fixture for each program', () => {
    expect(FILES).toEqual(Object.keys(EXPECTED))
    const programs = new Set(RULES.map(({ program }) => toPlain(program)).filter((name) => name !== 'otherprograms'))
    expect([...programs].filter((program) => !FILES.some((file) => toPlain(file).startsWith(program)))).toEqual([])
    expect(programs.size).toBe(19)
  })
})

describe('the table of statuses', () => {
  test('has each program and column in docs/import.md', () => {
    const text = readText('docs/import.md')
    for (const { program, columns } of RULES) {
      expect(text).toContain(`| ${program} |`)
      for (const column of columns) expect(text).toContain(`\`${column}\``)
    }
  })

  test('gives each value one meaning under a name', () => {
    const meanings = RULES.flatMap((rule) =>
      rule.columns.flatMap((column) =>
        STATUSES.flatMap((status) =>
          rule[status].map((value) => ({ key: `${toPlain(column)}=${toPlain(value)} ${rule.with}`, status })),
        ),
      ),
    )
    for (const [key, same] of Map.groupBy(meanings, (meaning) => meaning.key)) {
      expect([key, ...new Set(same.map(({ status }) => status))]).toHaveLength(2)
    }
  })

  test('gives each word one meaning in all languages', () => {
    const kinds = [...STATUSES, 'yes', 'no'] as const
    const all = kinds.flatMap((kind) => [...toWords(kind)])
    expect(all.filter((word, index) => all.indexOf(word) !== index)).toEqual([])
  })
})
