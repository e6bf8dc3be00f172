/** The report says what was run, what was measured, and what is broken. */

import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  describeMachine,
  describeVersion,
  type Outcome,
  type Report,
  toMarkdown,
  writeReport,
} from '../../endurance/report.ts'

const KEPT: Outcome = {
  trial: 'model',
  store: 'sqlite',
  promise: 'none lost | none twice',
  seconds: 300.4,
  othersCores: 0.5,
  figures: { kills: 100, addresses: 1_000_123, ratio: 0.123456 },
  details: { rounds: 20 },
}
const BROKEN: Outcome = { ...KEPT, trial: 'soak', store: 'postgres', seconds: 60, figures: {}, broken: 'it\nbroke' }

const REPORT: Report = {
  at: '2026-11-21T18:00:00.000Z',
  version: '1.0.0, commit abc',
  seed: 7,
  minutes: undefined,
  machine: 'a machine',
  outcomes: [KEPT],
  missing: ['soak (postgres)'],
}

test('a kept promise is a row with its figures, and a section with the details', () => {
  const text = toMarkdown(REPORT)
  expect(text).toContain(
    '| model | SQLite | none lost \\| none twice | kills: 100; addresses: 1,000,123; ratio: 0.123 | 300 | yes |',
  )
  expect(text).toContain('## Details: model, SQLite\n\n|  | Measured |\n| --- | --- |\n| rounds | 20 |')
})

test('the facts say when, what, where and how to repeat it', () => {
  const text = toMarkdown(REPORT)
  expect(text).toContain('- 2026-11-21 18:00 UTC, Rollcall 1.0.0, commit abc')
  expect(text).toContain('- a machine; other work used 0.5 cores on average')
  expect(text).toContain('- 1 run at the default lengths in 5 minutes, seed 7')
  expect(text).toContain('- Not in this run: soak (postgres)')
  expect(text).toContain('`npm run endurance -- --only model --store sqlite --seed 7`')
})

test('a broken promise says what was seen and how to repeat it', () => {
  const text = toMarkdown({ ...REPORT, minutes: 2, outcomes: [KEPT, BROKEN] })
  expect(text).toContain('| 60 | **no** |')
  expect(text).toContain('## Broken: soak, PostgreSQL\n\nit broke\n')
  expect(text).toContain('`npm run endurance -- --only soak --store postgres --seed 7 --minutes 2`')
})

test('the files are Markdown and JSON', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-'))
  writeReport(folder, REPORT)
  expect(readFileSync(join(folder, 'endurance.md'), 'utf8')).toBe(toMarkdown(REPORT))
  expect(JSON.parse(readFileSync(join(folder, 'endurance.json'), 'utf8'))).toEqual(REPORT)
  rmSync(folder, { recursive: true })
})

test('the machine and the version are described', () => {
  expect(describeMachine()).toMatch(/^\d+ cores.* GiB of memory, linux .*, Bun \d/)
  expect(describeVersion()).toMatch(/^\d+\.\d+\.\d+/)
})
