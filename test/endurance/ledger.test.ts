/** The ledger of the model finds every way in which a list may be wrong. */

import { beforeEach, expect, test } from 'bun:test'
import { confirm } from '../../endurance/model/history.ts'
import { createLedger, type Ledger } from '../../endurance/model/ledger.ts'
import { createRandom } from '../../endurance/random.ts'

let ledger: Ledger

/** When each identity was subscribed, in milliseconds since 1970. */
const dates = new Map<string, number>()

beforeEach(() => {
  ledger = createLedger(createRandom(1))
})

function subscribe(email: string): void {
  const identity = email.toLowerCase()
  const operation = ledger.begin(identity, { kind: 'subscribe', email })
  confirm(operation)
  dates.set(identity, operation.startDate)
}

/** A row of an export. The address was subscribed `later` milliseconds before its date. */
const toRow = (email: string, seq: number, later = 0) => ({
  email,
  subscribed_at: new Date((dates.get(email.toLowerCase()) ?? 0) + later).toISOString(),
  seq,
})

test('a list that is as it should be', () => {
  subscribe('a@b.org')
  subscribe('B@b.org')
  expect(ledger.settle([toRow('a@b.org', 1), toRow('B@b.org', 2)])).toEqual([])
  expect([ledger.everListed(), ledger.count('subscribed')]).toEqual([2, 2])
})

test.each([
  ['an address is missing', () => [toRow('a@b.org', 1)], 'shows no row for b@b.org'],
  ['an address is there twice', () => [toRow('a@b.org', 1), toRow('A@b.org', 2)], 'twice'],
  ['an address was never sent', () => [toRow('a@b.org', 1), toRow('x@b.org', 2)], 'nobody sent'],
  ['a spelling differs', () => [toRow('A@b.org', 1), toRow('b@b.org', 2)], 'shows A@b.org'],
  ['a date is later', () => [toRow('a@b.org', 1, 60_000), toRow('b@b.org', 2)], 'shows a@b.org'],
  ['the order is wrong', () => [toRow('b@b.org', 1), toRow('a@b.org', 2)], 'has a larger number'],
])('%s', (_, toRows, message) => {
  subscribe('a@b.org')
  subscribe('b@b.org')
  expect(() => ledger.settle(toRows())).toThrow(message)
})

test('the order within a tick is not checked', () => {
  ledger = createLedger(createRandom(1), 60_000)
  subscribe('a@b.org')
  subscribe('b@b.org')
  expect(() => ledger.settle([toRow('b@b.org', 1), toRow('a@b.org', 2)])).not.toThrow()
})

test('a row keeps its cursor and its date between two rounds', () => {
  subscribe('a@b.org')
  const row = toRow('a@b.org', 1)
  ledger.settle([row])
  expect(() => ledger.settle([row])).not.toThrow()
  expect(() => ledger.settle([{ ...row, seq: 2 }])).toThrow('shows a@b.org')
})

test('a removal that nobody confirmed is unclear until another one says what it found', () => {
  subscribe('a@b.org')
  ledger.begin('a@b.org', { kind: 'remove', suppress: true })
  ledger.begin('a@b.org', { kind: 'remove', suppress: false })
  expect(ledger.settle([])).toEqual(['a@b.org'])
  confirm(ledger.begin('a@b.org', { kind: 'remove', suppress: true }), 'suppressed')
  ledger.settleUnclear('a@b.org')
  expect(ledger.count('suppressed')).toBe(1)
})

test('a backup has what was confirmed before it began', () => {
  subscribe('a@b.org')
  const start = performance.now()
  subscribe('b@b.org')
  const end = performance.now()
  const [a, b] = [toRow('a@b.org', 1), toRow('b@b.org', 2)]
  for (const rows of [[a], [a, b]]) expect(() => ledger.checkSnapshot('a backup', rows, start, end)).not.toThrow()
  expect(() => ledger.checkSnapshot('a backup', [b], start, end)).toThrow('a backup shows no row for a@b.org')
})
