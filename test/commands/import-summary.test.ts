/** When an import fails because of its rejected rows. */

import { expect, test } from 'bun:test'
import { findFailure, parseRefusalLimit } from '../../src/commands/import-summary.ts'

const SUMMARY = {
  ...{ added: 5, known: 1, suppressed: 1, optedOut: 1, removed: 0, kept: 0, skipped: 1, refused: 1, rejected: null },
  columns: { email: [], date: [], status: [] },
  statuses: [],
}
const EMPTY = { ...SUMMARY, added: 0, known: 0, suppressed: 0, optedOut: 0, skipped: 0 }

test.each([
  ['10%', undefined],
  ['9.5%', '1 of 10 rows were rejected, which is more than --max-refused allows'],
  ['1', undefined],
  ['0', '1 of 10 rows were rejected, which is more than --max-refused allows'],
  [undefined, undefined],
])('1 of 10 rows with --max-refused %s: %s', (limit, message) => {
  expect(findFailure(SUMMARY, limit === undefined ? limit : parseRefusalLimit(limit))).toBe(message)
})

test('an import without a valid row fails, unless there is no row', () => {
  expect(findFailure({ ...EMPTY, refused: 3 }, parseRefusalLimit('100%'))).toBe('no row could be imported')
  expect(findFailure({ ...EMPTY, refused: 0 }, undefined)).toBeUndefined()
  expect(findFailure({ ...EMPTY, refused: 0, skipped: 2 }, parseRefusalLimit('0'))).toBeUndefined()
})

test.each(['', '5.5', '-1', '101%', '5 %', 'all'])('%j is no limit', (text) => {
  expect(() => parseRefusalLimit(text)).toThrow('Use a number such as 10, or a share such as 5%.')
})
