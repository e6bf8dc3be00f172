/** docs/figures.md says what the last reports say, so that no figure in it is typed by hand. */

import { expect, test } from 'bun:test'
import { toSummary } from '../../endurance/report.ts'
import { readText } from '../support/markdown.ts'

test('docs/figures.md has every trial of the last report, with its commit', () => {
  const summary = toSummary(readText('endurance/report.txt'))
  expect(summary.split('\n').length).toBeGreaterThan(5)
  expect(readText('docs/figures.md')).toContain(summary)
})

test('a broken promise is not called kept', () => {
  const section =
    '### fsync\n\nMust show: x.\n\nCommit abc, 2026-11-25, seed 1.\n\n| a | b |\n\n**Broken: SQLite**: one was lost.'
  expect(toSummary(section).split('\n').at(-1)).toMatch(/\| \*\*no\*\* \| abc \|$/)
})
