/**
 * Applies each break of breaks.yaml to a copy of the repository and runs the tests that must notice it: see HELP.
 *
 * Rows that no longer match the sources, and tests that fail without a break, are left out. In the end it names every row
 * that was not caught, and the exit code is 1 if there is one.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Copy, createCopy, type Run } from './copy.ts'
import { applyBreak, BREAKS, type Break, findMismatch } from './table.ts'

/** As many runs at a time. */
const COPIES = 2

const HELP = `Usage: npm run test:mutants -- [options]

Breaks a copy of the program in one place after the other, and runs the test that must notice it. All breaks take hours.
Exit codes: 0 all are caught, 1 some are not, 2 wrong usage.

  --only NAME   the breaks whose names contain NAME, in test/runners/mutants/breaks.yaml; may be repeated
  --help        print help
`

function end(text: string, code: number): never {
  console.error(text.trimEnd())
  process.exit(code)
}

function readOptions() {
  try {
    return parseArgs({ options: { only: { type: 'string', multiple: true, default: [] }, help: { type: 'boolean' } } })
      .values
  } catch (error) {
    return end(`${(error as Error).message}\n\n${HELP}`, 2)
  }
}

const values = readOptions()
if (values.help) end(HELP, 0)
const wanted = BREAKS.filter(({ name }) => values.only.length === 0 || values.only.some((part) => name.includes(part)))
if (wanted.length === 0) end(`no break is called ${values.only.join(' or ')}`, 2)
const matching = wanted.filter((entry) => {
  const mismatch = findMismatch(entry)
  if (mismatch) console.log(`NO MATCH   ${entry.name}: ${mismatch}`)
  return mismatch === undefined
})

const start = performance.now()
const copies = Array.from({ length: COPIES }, createCopy)
process.on('exit', () => {
  for (const copy of copies) copy.remove()
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

const selections = new Map(matching.map((entry) => [toSelection(entry), entry]))
console.log(`${matching.length} breaks; ${selections.size} selections of tests must pass without a break`)
/** How long each selection takes without a break. */
const seconds = new Map<string, number>()
await share([...selections], async (copy, [selection, { test, only }]) => {
  const run = await copy.test(test, { only, timeoutMs: 60_000 })
  if (run.outcome === 'passed') seconds.set(selection, run.seconds)
  else console.log(`FAILS WITHOUT A BREAK  ${selection}\n${run.output}`)
})

const caught = new Set<Break>()
const runnable = matching.filter((entry) => seconds.has(toSelection(entry)))
const longestFirst = runnable.toSorted((one, other) => toSeconds(other) - toSeconds(one))
await share(longestFirst, async (copy, entry) => {
  const run = await runBroken(copy, entry)
  if (run.outcome === 'failed') caught.add(entry)
  const word = { failed: 'caught', passed: 'SURVIVED', broken: 'NO RESULT' }[run.outcome]
  console.log(`${word.padEnd(10)}${run.seconds.toFixed(1).padStart(5)} s  ${entry.name}`)
  if (run.outcome !== 'failed') console.log(`  ${entry.promise}\n  ${toSelection(entry)}`)
  if (run.outcome === 'broken') console.log(run.output)
})
console.log(`${caught.size} of ${wanted.length} caught in ${Math.round((performance.now() - start) / 1000)} s`)
const missed = wanted.filter((entry) => !caught.has(entry))
for (const entry of missed) console.log(`NOT CAUGHT ${entry.name} (${toSelection(entry)}): ${entry.promise}`)
process.exit(missed.length === 0 ? 0 : 1)

function toSeconds(entry: Break): number {
  return seconds.get(toSelection(entry)) ?? 0
}

async function runBroken(copy: Copy, entry: Break): Promise<Run> {
  const { file, test, only } = entry
  const path = join(copy.root, file)
  const source = readFileSync(path, 'utf8')
  writeFileSync(path, applyBreak(source, entry))
  try {
    // A test that passes never takes this long; one that waits in vain ends soon.
    const timeoutMs = 10_000 + 3000 * toSeconds(entry)
    return await copy.test(test, { only, timeoutMs })
  } finally {
    writeFileSync(path, source)
  }
}

/** Does each task on a copy that is free. */
async function share<Task>(tasks: readonly Task[], work: (copy: Copy, task: Task) => Promise<void>) {
  const queue = [...tasks]
  await Promise.all(
    copies.map(async (copy) => {
      for (let task = queue.shift(); task !== undefined; task = queue.shift()) await work(copy, task)
    }),
  )
}

function toSelection({ test, only }: Break): string {
  return only ? `${test} -t "${only}"` : test
}
