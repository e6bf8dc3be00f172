/** The model allows every order that operations at once may take, and no other. */

import { beforeEach, expect, test } from 'bun:test'
import {
  ABSENT,
  type Effect,
  listPossibleStates,
  type Operation,
  type State,
  SUPPRESSED,
} from '../../endurance/model/history.ts'

const NEVER = Number.POSITIVE_INFINITY
let operations: Operation[] = []

beforeEach(() => {
  operations = []
})

/** An operation between two moments, which are its dates as well. */
function during(start: number, end: number, effect: Effect, found?: State['kind']): void {
  operations.push({ effect, start, startDate: start, end, endDate: end, ...(found && { found }) })
}

const subscribe = (email = 'a@b.org'): Effect => ({ kind: 'subscribe', email })
const remove = (suppress = true): Effect => ({ kind: 'remove', suppress })
const kinds = (initial: State = ABSENT) =>
  listPossibleStates(initial, operations)
    .map(({ kind }) => kind)
    .sort()

test('operations one after the other have one end, and those at once one for each order', () => {
  during(1, 2, subscribe())
  during(3, 4, remove())
  expect(kinds()).toEqual(['suppressed'])
  during(5, 8, subscribe())
  during(6, 7, remove(false))
  expect(kinds()).toEqual(['absent', 'subscribed'])
})

test('an operation that is not confirmed may have happened or not', () => {
  during(1, NEVER, subscribe())
  expect(kinds()).toEqual(['absent', 'subscribed'])
})

test('what an operation found leaves out the orders that do not fit', () => {
  during(1, 5, subscribe())
  during(2, 4, remove(), 'subscribed')
  expect(kinds()).toEqual(['suppressed'])
  during(6, 7, remove(), 'absent')
  expect(kinds()).toEqual([])
})

test('the list keeps the first spelling and date, and an import leaves out who is suppressed', () => {
  during(1, 2, { kind: 'import', email: 'A@b.org', date: 99 })
  during(3, 4, subscribe('a@B.org'))
  expect(listPossibleStates(ABSENT, operations)).toEqual([{ kind: 'subscribed', email: 'A@b.org', from: 99, to: 99 }])
  operations = []
  during(1, 2, { kind: 'import', email: 'a@b.org' })
  expect(kinds(SUPPRESSED)).toEqual(['suppressed'])
})
