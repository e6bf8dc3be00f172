/** Properties of what imports, opt-outs and removals change, on random lists and rows with repeats. */

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Address, toIdentity } from '../../src/email.ts'
import { countImport } from '../../src/store/batches.ts'
import {
  type ChangePlan,
  type Changes,
  importRow,
  optOutRow,
  planRows,
  removeRow,
  toImportTally,
  toOptOutTally,
  toState,
} from '../../src/store/changes.ts'
import type { Found } from '../../src/subscriber.ts'
import { toAddress } from './suite.ts'

/** A list in memory, by identity. */
type List = Map<string, Found>

const NOW = new Date('2026-06-01T00:00:00Z')

// Few addresses in two spellings, and few dates, so that rows repeat and dates are equal.
const email = fc.constantFrom('a', 'B', 'b', 'c', 'C', 'd').map((name) => toAddress(`${name}@site.io`))
const date = fc.constantFrom('2020-01-01', '2024-01-01', '2026-06-01', '2027-01-01').map((text) => new Date(text))
const list = fc
  .array(fc.tuple(email, fc.constantFrom('subscriber', 'suppression'), date), { maxLength: 5 })
  .map((entries): List => {
    const rows = entries.map(([address, kind, at], seq): [string, Found] => [
      toIdentity(address),
      kind === 'subscriber' ? { subscriber: { seq, email: address, subscribedAt: at } } : { suppressedAt: at },
    ])
    return new Map(rows)
  })
const addresses = fc.array(email, { maxLength: 8 })
const importRows = fc.array(fc.record({ email, subscribedAt: fc.option(date, { nil: undefined }) }), { maxLength: 8 })
const optOuts = fc.array(fc.record({ email, optedOutAt: fc.option(date, { nil: undefined }) }), { maxLength: 8 })

const find = (state: List, rows: readonly Address[]) => rows.map((address) => state.get(toIdentity(address)) ?? {})
const toRows = (emails: readonly Address[]) => emails.map((email) => ({ email }))
const emailsOf = (rows: readonly { readonly email: Address }[]) => rows.map((row) => row.email)

/** Writes changes as a store does. */
function write(state: List, { add, remove, suppress, forget }: Changes): List {
  const next = new Map(state)
  for (const row of remove) expect(next.delete(toIdentity(row.email))).toBe(true)
  for (const row of add) {
    expect(next.has(toIdentity(row.email))).toBe(false)
    next.set(toIdentity(row.email), { subscriber: { ...row, seq: 99 } })
  }
  for (const row of suppress) next.set(toIdentity(row.email), { suppressedAt: row.suppressedAt })
  for (const address of forget) next.delete(toIdentity(address))
  return next
}

const isOnce = (rows: readonly Address[]) => new Set(rows.map(toIdentity)).size === rows.length
const sum = (tally: object) => Object.values(tally).reduce((total: number, value: number) => total + value, 0)

function expectSound(state: List, { changes }: ChangePlan<unknown>): List {
  expect(isOnce(emailsOf(changes.add))).toBe(true)
  expect(isOnce(emailsOf(changes.suppress))).toBe(true)
  expect(isOnce(changes.forget)).toBe(true)
  const next = write(state, changes)
  for (const { subscriber, suppressedAt } of next.values()) expect(subscriber && suppressedAt).toBeUndefined()
  return next
}

test('an import adds each new address once, in its first spelling, and never one that is suppressed', () => {
  fc.assert(
    fc.property(list, importRows, (state, rows) => {
      const plan = planRows(rows, importRow, find(state, emailsOf(rows)), NOW)
      const next = expectSound(state, plan)
      const tally = toImportTally(plan.outcomes)
      expect(sum(tally)).toBe(rows.length)
      expect(next.size - state.size).toBe(tally.added)
      for (const [identity, found] of state) expect(next.get(identity)).toEqual(found)
      for (const { email: address, subscribedAt } of plan.changes.add) {
        const first = rows.find((row) => toIdentity(row.email) === toIdentity(address))
        expect({ address, subscribedAt }).toEqual({ address: first!.email, subscribedAt: first!.subscribedAt ?? NOW })
      }
      // A second import of the same rows changes nothing.
      expect(planRows(rows, importRow, find(next, emailsOf(rows)), NOW).outcomes).not.toContain('added')
    }),
  )
})

test('opt-outs suppress everybody, except for those who subscribed later or at an unknown time', () => {
  fc.assert(
    fc.property(list, optOuts, fc.boolean(), (state, rows, removeUndated) => {
      const plan = planRows(rows, optOutRow({ removeUndated }), find(state, emailsOf(rows)), NOW)
      const next = expectSound(state, plan)
      const tally = toOptOutTally(plan.outcomes)
      expect(tally.suppressed + tally.kept).toBe(rows.length)
      expect(tally.removed).toBe(plan.changes.remove.length)
      for (const { email: address } of rows) {
        const { subscriber, suppressedAt } = next.get(toIdentity(address)) ?? {}
        const before = state.get(toIdentity(address))
        const mine = rows.filter((row) => toIdentity(row.email) === toIdentity(address))
        const isLeft = (at: Date | undefined) => (at ? before!.subscriber!.subscribedAt <= at : removeUndated)
        if (subscriber) expect(mine.some(({ optedOutAt }) => isLeft(optedOutAt))).toBe(false)
        else for (const { optedOutAt } of mine) expect(suppressedAt! >= (optedOutAt ?? suppressedAt!)).toBe(true)
        // A suppression never gets an earlier date, and is not older than the subscription that it ends.
        if (before?.suppressedAt) expect(suppressedAt! >= before.suppressedAt).toBe(true)
        if (before?.subscriber && suppressedAt) expect(suppressedAt >= before.subscriber.subscribedAt).toBe(true)
      }
    }),
  )
})

test('of two opt-outs, the one that removes a subscriber counts, in any order', () => {
  const ann = toAddress('ann@site.io')
  const subscriber = { seq: 1, email: ann, subscribedAt: new Date('2024-01-01') }
  const rows = [{ email: ann, optedOutAt: new Date('2020-01-01') }, { email: ann }]
  for (const ordered of [rows, rows.toReversed()]) {
    const plan = (removeUndated: boolean) =>
      planRows(ordered, optOutRow({ removeUndated }), [{ subscriber }, { subscriber }], NOW)
    expect(plan(true).changes.remove).toEqual([subscriber])
    expect(plan(false).changes.remove).toEqual([])
    expect(toOptOutTally(plan(false).outcomes)).toEqual({ suppressed: 0, removed: 0, kept: 2 })
  }
})

test('an opt-out in the second of the subscription counts, because other programs store whole seconds', () => {
  const ann = toAddress('ann@site.io')
  const subscriber = { seq: 1, email: ann, subscribedAt: new Date('2024-01-01T10:00:00.567Z') }
  const outcome = (time: string) =>
    planRows([{ email: ann, optedOutAt: new Date(time) }], optOutRow({ removeUndated: false }), [{ subscriber }], NOW)
      .outcomes
  expect(outcome('2024-01-01T10:00:00.000Z')).toEqual(['removed'])
  expect(outcome('2024-01-01T09:59:59.999Z')).toEqual(['kept'])
})

test('with a cursor, the number of a subscriber counts, and no date', () => {
  const ann = toAddress('ann@site.io')
  const rows = [{ email: ann, optedOutAt: new Date('2020-01-01') }, { email: ann }]
  const subscriber = { seq: 8, email: ann, subscribedAt: new Date('2024-01-01') }
  const outcomes = (upTo: number) =>
    rows.map((row) => planRows([row], optOutRow({ removeUndated: true, upTo }), [{ subscriber }], NOW).outcomes[0])
  expect(outcomes(8)).toEqual(['removed', 'removed'])
  expect(outcomes(7)).toEqual(['kept', 'kept'])
})

test('a removal leaves no address on the list, and returns the state that each row found', () => {
  fc.assert(
    fc.property(list, addresses, fc.boolean(), (state, rows, suppress) => {
      const plan = planRows(toRows(rows), removeRow({ suppress }), find(state, rows), NOW)
      const next = expectSound(state, plan)
      let model = state
      const states = rows.map((address) => {
        const one = planRows(toRows([address]), removeRow({ suppress }), find(model, [address]), NOW)
        model = write(model, one.changes)
        return one.outcomes[0]!
      })
      expect([...plan.outcomes]).toEqual(states)
      for (const address of rows) {
        expect(toState(next.get(toIdentity(address)) ?? {})).toBe(suppress ? 'suppressed' : 'absent')
        const { subscriber, suppressedAt } = state.get(toIdentity(address)) ?? {}
        // The clock may have been set back since.
        const earliest = subscriber?.subscribedAt ?? suppressedAt ?? NOW
        const date = earliest > NOW ? earliest : NOW
        if (suppress) expect(next.get(toIdentity(address))!.suppressedAt).toEqual(date)
      }
    }),
  )
})

test('a dry run counts like the opt-outs and the import after them, and changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(list, optOuts, importRows, fc.boolean(), async (state, leaving, coming, removeUndated) => {
      const before = new Map(state)
      // Not a real list: there are hundreds, of any shape. test/commands/import.test.ts counts a dry run of a real one.
      const store = {
        lookUp: async (asked: readonly Address[]) => find(state, asked),
        count: async () => ({ subscribers: 7, reserved: 0, suppressed: 0 }),
      }
      const left = planRows(leaving, optOutRow({ removeUndated }), find(state, emailsOf(leaving)), NOW)
      const came = planRows(coming, importRow, find(write(state, left.changes), emailsOf(coming)), NOW)
      const rows = { optOuts: leaving, subscribers: coming, skipped: leaving }
      const asOptOut = optOutRow({ removeUndated: true })
      const toOutcome = (row: (typeof leaving)[number]) =>
        find(state, [row.email]).map((one) => asOptOut(row, one, NOW)[1])
      const steps: number[] = []
      const onProgress = (done: number) => steps.push(done)
      const tally = { ...toOptOutTally(left.outcomes), ...toImportTally(came.outcomes) }
      expect(await countImport(store, rows, { removeUndated, onProgress })).toEqual({
        tally,
        size: tally.removed > 0 ? 7 : 0,
        optOuts: left.outcomes,
        subscribers: came.outcomes,
        skipped: leaving.flatMap(toOutcome),
      })
      expect(steps.at(-1) ?? 0).toBe(2 * leaving.length + coming.length)
      expect(state).toEqual(before)
    }),
  )
})

test('a dry run without a list counts the rows that repeat each other', async () => {
  const rows = toRows(['a@site.io', 'b@site.io', 'A@site.io'].map(toAddress))
  expect(
    await countImport(undefined, { optOuts: rows.slice(1, 2), subscribers: rows }, { removeUndated: false }),
  ).toMatchObject({ tally: { added: 1, alreadyListed: 1, leftOut: 1, suppressed: 1, removed: 0, kept: 0 } })
})
