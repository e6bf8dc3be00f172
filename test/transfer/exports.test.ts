/** The exports of other programs: nobody who left is added, and only subscribers are. */

import { describe, expect, onTestFinished, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { planImport, writeImport } from '../../src/transfer/list-import.ts'
import { EXPORTS } from '../../src/transfer/reading/exports.ts'
import { openInput } from '../../src/transfer/reading/input.ts'
import { toPlainName, toPlainValue } from '../../src/transfer/reading/names.ts'
import { openSource } from '../../src/transfer/reading/source.ts'
import { readText } from '../support/markdown.ts'
import { createFolder } from '../support/service.ts'
import { emailsOf, listAll, listSuppressions } from '../support/store-suite.ts'

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
  'mailtrain.csv': { date: [], status: ['status'] },
  'sendy.csv': { date: ['Joined'], status: ['Status'] },
  'shopify.csv': { date: [], status: ['Accepts Email Marketing'] },
  'substack.csv': { date: ['created_at'], status: ['email_disabled'] },
}

describe('the export', () => {
  test.each(FILES)('%s: subscribers are added, people who left are suppressed, others are skipped', async (file) => {
    const folder = await createFolder()
    onTestFinished(() => rm(folder, { recursive: true }))
    const store = openSqliteStore(join(folder, 'list.db'))
    const { signal } = new AbortController()
    const start = new Date(Date.now() - 60_000).toISOString()
    const source = await openSource(await openInput(join(FOLDER, file)))
    const rows = (await Array.fromAsync(source.pages)).flat()
    const named = (start: string) => rows.map(({ email }) => String(email)).filter((email) => email.startsWith(start))

    const plan = await planImport(source, { suppress: false, signal })
    const onRejected = async (rejected: readonly { reason: string }[]) => {
      throw new Error(rejected[0]?.reason)
    }
    const tally = await writeImport(store, plan, { onRejected, onBatch() {}, signal })

    expect(emailsOf(await listAll(store)) as string[]).toEqual(named('subscribed'))
    expect(tally).toMatchObject({ optedOut: named('suppressed').length, skipped: named('skip').length })
    expect((await store.count()).suppressed).toBe(named('suppressed').length)
    const { date, status, dates = [] } = EXPECTED[file]!
    expect({ date: [...source.columns.date], status: [...source.columns.status] }).toEqual({ date, status })
    const suppressed = (await listSuppressions(store)).map(({ suppressedAt }) => suppressedAt.toISOString())
    expect(suppressed.filter((text) => text < start)).toEqual(dates)
    await store.close()
  })

  test('has a fixture for each program', () => {
    expect(FILES).toEqual(Object.keys(EXPECTED))
    const programs = EXPORTS.map(({ program }) => toPlainName(program)).filter((name) => name !== 'otherprograms')
    const names = FILES.map(toPlainName)
    expect(programs.filter((program) => !names.some((name) => name.startsWith(program)))).toEqual([])
  })
})

describe('the table of exports', () => {
  test('is in docs/import.md', () => {
    const rows = readText('docs/import.md')
      .split('\n')
      .filter((line) => line.startsWith('| '))
    for (const { program, columns } of EXPORTS) {
      const first = rows.findIndex((row) => row.startsWith(`| ${program} |`))
      const end = rows.findIndex((row, index) => index > first && !row.startsWith('| | '))
      const text = rows.slice(first, end < 0 ? undefined : end).join('\n')
      const words = columns.flatMap(({ values }) => Object.keys(values).filter((value) => value.length > 5))
      for (const name of columns.flatMap(({ names }) => names)) expect(text).toContain(`\`${name}\``)
      for (const word of words) expect(text).toContain(word)
    }
  })

  test('has sources that are URLs', () => {
    const sources = EXPORTS.flatMap((entry) => (entry.sources.length > 0 ? entry.sources : entry.program))
    expect(sources.filter((source) => !source.startsWith('https://'))).toEqual(['Other programs'])
  })

  test('has plain values, each with one meaning under a name', () => {
    const meanings = EXPORTS.flatMap(({ columns }) => columns).flatMap(({ names, values }) =>
      names.flatMap((name) =>
        Object.entries(values).map(([value, status]) => ({ name: toPlainName(name), value, status })),
      ),
    )
    expect(meanings.filter(({ value }) => value !== toPlainValue(value))).toEqual([])
    for (const [key, same] of Map.groupBy(meanings, ({ name, value }) => `${name}=${value}`)) {
      expect([key, ...new Set(same.map(({ status }) => status))]).toHaveLength(2)
    }
  })
})
