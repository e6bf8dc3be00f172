/** The report says what was run, what was measured, and what is broken. */

import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  describeMachine,
  describeVersion,
  mergeOutcomes,
  type Outcome,
  type Report,
  readOutcomes,
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
  at: '2026-11-21T18:00:00.000Z',
  version: '1.0.0, commit abc',
  machine: 'a machine',
  seed: 7,
}
const BROKEN: Outcome = { ...KEPT, trial: 'soak', store: 'postgres', seconds: 60, figures: {}, broken: 'it\nbroke' }

const REPORT: Report = { outcomes: [KEPT], missing: ['soak (postgres)'] }

test('a kept promise is a row with its figures and circumstances, and a section with the details', () => {
  const text = toMarkdown(REPORT)
  expect(text).toContain(
    '| model | SQLite | none lost \\| none twice | kills: 100; addresses: 1,000,123; ratio: 0.123 | 300 | 0.5 | 2026-11-21 18:00 UTC, 1.0.0, commit abc, seed 7 | yes |',
  )
  expect(text).toContain('## Details: model, SQLite\n\n|  | Measured |\n| --- | --- |\n| rounds | 20 |')
})

test('the facts name each machine once, and what was not run', () => {
  const text = toMarkdown({ ...REPORT, outcomes: [KEPT, BROKEN] })
  expect(text).toContain('\n- a machine\n- Not run: soak (postgres)\n')
})

test('a broken promise says what was seen and how to repeat it', () => {
  const text = toMarkdown({ ...REPORT, outcomes: [KEPT, { ...BROKEN, minutes: 2 }] })
  expect(text).toContain('seed 7, shorter: about 2 minutes | **no** |')
  expect(text).toContain('## Broken: soak, PostgreSQL\n\nit broke\n')
  expect(text).toContain('`npm run endurance -- --only soak --store postgres --seed 7 --minutes 2`')
})

test('a later run of a trial on a store replaces the earlier one only', () => {
  const [later, other] = [{ ...KEPT, seed: 8 }, { ...KEPT, store: 'postgres' } as const]
  expect(mergeOutcomes([KEPT, BROKEN], [later, other])).toEqual([BROKEN, later, other])
})

test('the files are Markdown and JSON', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-'))
  writeReport(folder, REPORT)
  expect(readFileSync(join(folder, 'endurance.md'), 'utf8')).toBe(toMarkdown(REPORT))
  expect(JSON.parse(readFileSync(join(folder, 'endurance.json'), 'utf8'))).toEqual(REPORT)
  expect(readOutcomes(folder)).toEqual([KEPT])
  expect(readOutcomes(join(folder, 'none'))).toEqual([])
  rmSync(folder, { recursive: true })
})

test('the machine and the version are described', () => {
  expect(describeMachine()).toMatch(/^\d+ cores.* GiB of memory, linux .*, Bun \d/)
  expect(describeVersion()).toMatch(/^\d+\.\d+\.\d+/)
})
