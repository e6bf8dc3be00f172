/** What each column is, and which questions only the owner can answer. */

import { describe, expect, test } from 'bun:test'
import { plan, read, treat } from '../read.ts'

const toCsv = (name: string, cells: readonly string[]) =>
  `email,${name}\n${cells.map((cell, index) => `user${index}@b.io,${cell}\n`).join('')}`

/** Values of a column beside one that says who unsubscribed. */
const toKnown = (name: string, cells: readonly string[]) =>
  `email,status,${name}\ngone@b.io,unsubscribed,\n${cells.map((cell, index) => `user${index}@b.io,active,${cell}\n`).join('')}`

const NOTES = Array.from({ length: 40 }, (_, index) => `note ${index}`)

describe('a column that may say who left', () => {
  test.each<readonly [name: string, cells: readonly string[], values: string]>([
    ['foo', ['yes', 'no', 'no'], 'yes 1, no 2 (shape)'],
    ['foo', ['0', '1'], '0 1, 1 1 (shape)'],
    ['foo', ['oui', 'non'], 'oui 1, non 1 (shape)'],
    ['foo', ['так', 'ні'], 'так 1, ні 1 (shape)'],
    ['dnc', ['1', '1'], '1 2 (shape)'],
    ['no newsletter, no consent', ['yes', 'yes'], 'yes 2 (shape)'],
    ['foo', ['gold', 'pending', 'gold'], 'gold 2, pending 1 (shape)'],
    ['foo', ['Stammkunde', 'gekündigt'], 'Stammkunde 1, gekündigt 1 (shape)'],
    ['foo', ['2024-05-31', '', '31.5.2024'], 'a date 2, empty 1 (shape)'],
    ['foo', ['-', '', ''], '- 1, empty 2 (shape)'],
    ['foo', ['x', '', ''], 'x 1, empty 2 (shape)'],
    ['foo', ['checked', '', ''], 'checked 1, empty 2 (shape)'],
    ['Lead status', ['new', 'won'], 'new 1, won 1 (shape)'],
    ['SMS and email opt-out', ['yes', 'no'], 'yes 1, no 1 (words)'],
    ['foo', ['gold', 'Unsubscribed', 'gold'], 'gold 2, Unsubscribed 1 (words)'],
    ['foo', ['vip', 'vip; unsubscribed'], 'vip 1, vip; unsubscribed 1 (words)'],
    ['foo', [...NOTES, 'abgemeldet'], 'many values (words)'],
    ['foo', [...NOTES, 'abgemeldet am 3.2.2024'], 'many values (words)'],
    ['foo', [...NOTES, 'UNSUBSCRIBED!! do not mail'], 'many values (words)'],
    ['foo', [...NOTES, 'a mis à jour: désabonnée le 3 mai'], 'many values (words)'],
    ['foo', [...NOTES, '2月に配信停止を希望'], 'many values (words)'],
    ['foo', ['', 'Asked to opt-out by phone'], 'Asked to opt-out by phone 1, empty 1 (words)'],
    ['foo', ['likes it', 'please do not e-mail'], 'likes it 1, please do not e-mail 1 (words)'],
    ['foo', ['likes it', 'please don’t email'], 'likes it 1, please don’t email 1 (words)'],
    ['Motivo de la baja', ['spam', ''], 'spam 1, empty 1 (words)'],
    ['Optout reason', ['too many mails', ''], 'too many mails 1, empty 1 (words)'],
    ['opt_out_choice', ['confirmed', 'confirmed'], 'confirmed 2 (words)'],
    ...['unsub', 'opt out', 'bounce', 'hard bounce', 'do not mail', 'no mail', 'NoMail', 'ausgetreten'].map(
      (word) => ['foo', ['gold', word], `gold 1, ${word} 1 (words)`] as const,
    ),
    ...['解約', 'revoked', 'withdrawn'].map((word) => ['foo', ['', word], `${word} 1, empty 1 (words)`] as const),
  ])('is a question: %s, %j', (name, cells, values) => {
    const column = name.replaceAll(',', ' ')
    const text = toCsv(column, cells)
    expect(() => read(text)).toThrow(`${column}: ${values}`)
    const ignored = read(text, { ignoreColumn: [column] })
    expect([ignored.subscribers.length, ignored.unread]).toEqual([cells.length, [column]])
    expect(read(text, { suppress: true }).optOuts).toHaveLength(cells.length)
  })

  test.each<readonly [name: string, cells: readonly string[]]>([
    ['First name', ['Ada', 'Bob', '']],
    ['Tags', ['news; events', '']],
    ['Notes', ['unsubstantiated', 'Adopt outdoor cats', 'no mailing address']],
    ['City', ['Rome', 'Rome', 'Oslo']],
    ['language', ['no', 'no']],
    ['id', ['0', '1']],
    ['updated_at', ['2024-05-31', '']],
    ['Opening', ['2024-05-31', '2024-05-31']],
    ['Bounced mails', ['', '']],
    ['Puesto', ['trabajador', 'trabajadora']],
    ['phone', ['n/a', 'NULL', '']],
    ['points', Array.from({ length: 40 }, (_, index) => String(index))],
    ['foo', ['no', 'no']],
    ['Unsubscribed by staff', ['no', 'No']],
    ['foo', ['subscribed', 'subscribed']],
    ['Newsletter opt-in', ['yes', 'yes']],
    ['SMS status', ['unsubscribed', 'subscribed']],
    ['WhatsappOptOut', ['yes', 'no']],
    ['Direct mail opt out', ['x', '']],
    ['Fax Opt Out', ['1', '0']],
    ['Last active', ['2024-05-31', '']],
  ])('is none otherwise: %s, %j', (name, cells) => {
    const { subscribers, unread } = read(toCsv(name, cells))
    expect([subscribers.length, unread]).toEqual([cells.length, [name]])
  })

  test.each([
    ['VIP', ['yes', 'no', 'no']],
    ['Surname', ['Active', 'Long']],
    ['Coupon', ['2024-05-31', '']],
    ['Mark', ['x', '']],
    ['Lead status', ['new', 'won']],
    ['GDPR consent', ['yes', '']],
    ['json', ['{""a"":true}', '']],
  ])('is none beside a column that says who unsubscribed: %s, %j', (name, cells) => {
    const text = toKnown(
      name,
      cells.map((cell) => (cell.includes('"') ? `"${cell}"` : cell)),
    )
    expect(read(text).subscribers).toHaveLength(cells.length)
    // Not when nobody has unsubscribed, when only bounces are known, or when the owner named the column.
    expect(() => read(text.replace('unsubscribed', 'active'))).toThrow(`${name}: `)
    const bounces = text
      .replace('email,status', 'email,bounced')
      .replace('unsubscribed', 'yes')
      .replaceAll('active', 'no')
    expect(() => read(bounces)).toThrow(`${name}: `)
    const named = text.replace('email,status', 'email,gone')
    expect(() => read(named, { statusColumn: ['gone'] })).toThrow(`${name}: `)
    expect(() => read(text.replace('unsubscribed', 'odd'), treat('odd=suppressed'))).toThrow(`${name}: `)
  })

  test.each([
    ['Newsletter unsub', ['x', '']],
    ['foo', ['gold', 'unsubscribed']],
    ['foo', [...NOTES, 'left a note: abgemeldet am 3.2.']],
  ])('with words is one beside a column that says who unsubscribed: %s', (name, cells) => {
    expect(() => read(toKnown(name, cells))).toThrow('(words)')
  })

  test.each(['LEID', 'email_disabled', 'EMAIL_BLACKLISTED'])('is none in a file that has %s', (own) => {
    expect(read(`email,VIP,${own}\na@b.io,yes,no\nb@b.io,no,no\n`).subscribers).toHaveLength(2)
  })

  test('is judged by the people who would be added only', () => {
    const text = 'email,status,Stop status,reason\na@b.io,active,,\nb@b.io,pending,x,unsub\nc@b.io,bounced,x,removed\n'
    expect(read(text).subscribers).toHaveLength(1)
    expect(() => read('email,status,left_on\na@b.io,active,2024-01-02\nb@b.io,active,\n')).toThrow('left_on: a date 1')
  })

  test('may be an object of JSON, have no name, or have the name of another one', () => {
    const json = JSON.stringify({ email: 'a@b.io', state_of: { since: 2020, status: 'unsubscribed' } })
    expect(() => read(json)).toThrow('state_of: ')
    for (const confirmed of [false, 'No']) {
      expect(() => read(JSON.stringify({ email: 'a@b.io', news: { confirmed } }))).toThrow('news: ')
    }
    const text = 'email,foo,foo,\na@b.io,yes,no,x\nb@b.io,no,yes,\n'
    expect(plan(text).suspects.map(({ column }) => column.option)).toEqual(['2', '3', 'column 4'])
    expect(() => read(text, { ignoreColumn: ['foo'] })).toThrow(/^column 4: x 1, empty 1/)
    expect(read(text, { ignoreColumn: ['foo', 'column 4'] }).subscribers).toHaveLength(2)
    const both = 'column 2: yes 1, no 1 (shape); column 4: x 1, empty 1 (shape)'
    expect(() => read('a@b.io,yes,Rome,\nb@b.io,no,Oslo,x\n')).toThrow(both)
  })

  test.each(['NULL', '\\N', '0000-00-00', '-', 'n/a'])('has no value in a cell with %j, next to dates', (cell) => {
    expect(() => read(toCsv('foo', ['2024-05-31', cell, '']))).toThrow('foo: a date 1, empty 2')
  })
})

test('a column of the date is one by its name, but not if it has only yes and no', () => {
  for (const name of [
    'Registered',
    'Registration date',
    'date_joined',
    'Start date',
    'Created time',
    'signed up',
    'Sign Up',
  ]) {
    expect(read(toCsv(name, ['2024-05-31', ''])).date).toBe(name)
  }
  for (const name of [
    'Zeitstempel',
    'Erstellt am',
    'Horodateur',
    'Date de création',
    'Fecha de registro',
    'Anmäld',
    '登録日',
  ]) {
    expect(read(toCsv(name, ['2024-05-31', ''])).date).toBe(name)
  }
  expect(() => read(toCsv('Registered', ['yes', 'no']))).toThrow('Registered: yes 1, no 1')
})

test('without a column of the date, those that have only dates are named', () => {
  const text = 'email,since,birthday\na@b.io,2024-05-31,\nb@b.io,31.5.2024,\n'
  expect(plan(text).possibleDates).toEqual(['since'])
  expect(plan(text, { dateColumn: 'none' }).possibleDates).toEqual([])
  expect(plan(text.replace('since', 'created')).possibleDates).toEqual([])
})
