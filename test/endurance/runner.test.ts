/** Trials run in order and up to the first broken promise, each in a folder of its own. */

import { expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { check } from '../../endurance/check.ts'
import { runAll, toRuns } from '../../endurance/runner.ts'
import type { Trial, TrialContext } from '../../endurance/trial.ts'

const FINDINGS = { figures: { seen: 1 } }

function toTrial(name: string, run: (context: TrialContext) => Promise<void>): Trial {
  const work = async (context: TrialContext) => {
    await run(context)
    return FINDINGS
  }
  return { name, promise: `promise of ${name}`, minutes: { sqlite: 2 }, run: work }
}

const runTrials = (trials: readonly Trial[], minutes?: number) =>
  runAll(toRuns(trials, [], undefined), { seed: 7, minutes, say: () => {} })

test('a run for each store, without those that were not chosen', () => {
  const one = toTrial('one', async () => {})
  const both: Trial = { ...one, name: 'both', minutes: { sqlite: 1, postgres: 3 } }
  const list = (...options: [only: string[], store: 'sqlite' | 'postgres' | undefined]) =>
    toRuns([one, both], ...options).map(({ trial, store, minutes }) => `${trial.name} ${store} ${minutes}`)
  expect(list([], undefined)).toEqual(['one sqlite 2', 'both sqlite 1', 'both postgres 3'])
  expect(list(['one'], undefined)).toEqual(['one sqlite 2'])
  expect(list([], 'postgres')).toEqual(['both postgres 3'])
})

test('a trial gets its length, its seed and a folder that is removed', async () => {
  let folder = ''
  const numbers: number[] = []
  const trial = toTrial('one', async (context) => {
    folder = context.folder
    writeFileSync(join(folder, 'file'), '')
    numbers.push(context.scale, context.amount(1_000), context.amount(10, 9), context.random.below(1e9))
    const { file } = await context.createList()
    expect(dirname(file)).toStartWith(`${folder}/`)
  })
  const [outcome] = await runTrials([trial], 0.5)
  expect(outcome).toMatchObject({ trial: 'one', store: 'sqlite', promise: 'promise of one', ...FINDINGS })
  expect(outcome?.broken).toBeUndefined()
  expect(existsSync(folder)).toBe(false)
  await runTrials([trial], 0.5)
  expect(numbers.slice(0, 3)).toEqual([0.25, 250, 9])
  expect(numbers.slice(4)).toEqual(numbers.slice(0, 4))
})

test('nothing runs after a broken promise', async () => {
  let hasRun = false
  const trials = [
    toTrial('good', async () => {}),
    toTrial('bad', async () => check(false, () => 'two are lost')),
    toTrial('later', async () => {
      hasRun = true
    }),
  ]
  const outcomes = await runTrials(trials)
  expect(outcomes.map(({ trial, broken }) => [trial, broken])).toEqual([
    ['good', undefined],
    ['bad', 'two are lost'],
  ])
  expect(hasRun).toBe(false)
})

test('an error of the trial itself is not a kept promise', async () => {
  const [outcome] = await runTrials([toTrial('bad', () => Promise.reject(new TypeError('oops')))])
  expect(outcome?.broken).toStartWith('the trial failed: TypeError: oops')
})

test('an address in a log of the service is a broken promise', async () => {
  const trial = toTrial('logs', async ({ createList, folder }) => {
    const list = await createList()
    // The service names its list.
    await (await list.serve({ env: { DATABASE_URL: `sqlite:${folder}/a@b.db` } })).stop()
  })
  const [outcome] = await runTrials([trial])
  expect(outcome?.broken).toStartWith('a log of the service shows an address')
})
