/** The report of the benchmark: the reader's questions for the guide, and the tables for maintainers. */

import { expect, test } from 'bun:test'
import { ANSWERS } from '../../bench/answers.ts'
import { createContenders } from '../../bench/contenders.ts'
import { type Outcome, type Run, toAnswers, toChart, toReport } from '../../bench/report.ts'
import { METRICS, TRIALS } from '../../bench/trials.ts'

const CHECKOUT = { folder: '/rollcall', commit: 'abc1234', schema: 'def5678' }
const contenders = createContenders(CHECKOUT, { ...CHECKOUT, commit: '0123456' })

/** Every trial, as if each round had the same figures; those of Rollcall are twice as large. */
const outcomes = TRIALS.map((trial): Outcome => {
  const toSample = (name: string) =>
    Object.fromEntries(Object.keys(METRICS).map((metric) => [metric, name === 'rollcall' ? 2_000 : 1_000]))
  return {
    trial,
    samples: Object.fromEntries(trial.contenders.map((name) => [name, [toSample(name), toSample(name)]])),
  }
})
const run: Run = {
  ...{ commit: 'abc1234', compared: '0123456', date: '2026-11-23', machine: 'a machine', isAwake: true },
  ...{ failures: ['new, Rollcall: no result'], contenders, outcomes },
}
const [reader, maintainer] = [toAnswers(run), toReport(run)]

test('it begins with the question and the sentence that answers it, and each question has a figure', () => {
  expect(reader.split('\n')[0]).toContain('10,000 readers a day needs 0.12 requests per second')
  const rows = reader.match(/(?<=^\| )[A-Z][^|]* \| [\d.,]+ ?[^|]*(?= \|$)/gm) ?? []
  expect(rows).toHaveLength(ANSWERS.length)
  expect(rows[0]).toBe('One sign-up: 99 of 100 get their response within | 2,000.0 ms')
  expect(rows.at(-1)).toBe('A burst with PostgreSQL | 2,000 per second')
})

test('goals, comparisons with another commit and failures are for maintainers', () => {
  expect(reader).not.toMatch(/0123456|goal/i)
  const lines = maintainer.split('\n')
  expect(maintainer).toContain('Commit abc1234, beside 0123456, 2026-11-23')
  expect(lines).toContain('A sample failed: new, Rollcall: no result')
  const speed = 'requests/s ÷'
  expect(lines).toContain(`| ${speed} Rollcall at 0123456 | 2.00 | at least 1 | yes |`)
  expect(lines).toContain(`| ${speed} the best durable server | 2.00 | at least 10 | no |`)
})

test('each trial is there once, and the chart has the servers without the other commit', () => {
  const titles = [...maintainer.matchAll(/^### (.*)$/gm)].map(([, title]) => title)
  expect(titles).toEqual(TRIALS.map(({ title }) => title))
  const chart = toChart(outcomes.find(({ trial }) => trial.name === 'new')!, run)
  expect(chart).toContain('>Rollcall</text>')
  expect(chart).toContain('>Fastify 5, node:sqlite, durable</text>')
  expect(chart).not.toContain('0123456')
})
