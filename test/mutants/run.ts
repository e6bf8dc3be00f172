/**
 * Applies each break of the table to a copy of the repository and runs the tests that must catch it:
 *
 *     npm run test:mutants                  all breaks
 *     npm run test:mutants -- --only NAME   those whose names contain NAME; may be repeated
 *
 * Exit code 1 when a test does not notice its break, when a test fails without a break, or when the table is out of date.
 */

import { parseArgs } from 'node:util'
import { applyBreak, type Break, findMismatch } from './break.ts'
import { BREAKS } from './breaks.ts'
import { type Copy, createCopy, type Run } from './copy.ts'

/** As many runs at a time. */
const COPIES = 2

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true, default: [] } } })
const isWanted = ({ name }: Break) => values.only.length === 0 || values.only.some((part) => name.includes(part))
const wanted = BREAKS.filter(isWanted)

const outdated = wanted.map(findMismatch).filter((reason) => reason !== undefined)
if (wanted.length === 0) outdated.push(`no break is called ${values.only.join(' or ')}`)
if (outdated.length > 0) {
  console.error(`The table of breaks is out of date:\n${outdated.join('\n')}`)
  process.exit(1)
}

const start = performance.now()
const copies = Array.from({ length: COPIES }, createCopy)
process.on('exit', () => {
  for (const copy of copies) copy.remove()
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

const selections = new Map(wanted.map((entry) => [toSelection(entry), entry]))
console.log(`${wanted.length} breaks; ${selections.size} selections of tests must pass without a break`)
/** How long each selection takes without a break. */
const seconds = new Map<string, number>()
await share([...selections], async (copy, [selection, { test, only }]) => {
  const run = await copy.test(test, { only, timeoutMs: 60_000 })
  if (run.outcome === 'passed') seconds.set(selection, run.seconds)
  else console.log(`FAILS WITHOUT A BREAK  ${selection}\n${run.output}`)
})

let caught = 0
await share(
  wanted.toSorted((one, other) => toSeconds(other) - toSeconds(one)),
  async (copy, entry) => {
    if (!seconds.has(toSelection(entry))) return
    const run = await runBroken(copy, entry)
    if (run.outcome === 'failed') caught++
    const word = { failed: 'caught', passed: 'SURVIVED', broken: 'NO RESULT' }[run.outcome]
    console.log(`${word.padEnd(10)}${run.seconds.toFixed(1).padStart(5)} s  ${entry.name}`)
    if (run.outcome !== 'failed') console.log(`  ${entry.promise}\n  ${toSelection(entry)}`)
    if (run.outcome === 'broken') console.log(run.output)
  },
)
console.log(`${caught} of ${wanted.length} caught in ${Math.round((performance.now() - start) / 1000)} s`)
process.exit(caught === wanted.length ? 0 : 1)

function toSeconds(entry: Break): number {
  return seconds.get(toSelection(entry)) ?? 0
}

async function runBroken(copy: Copy, entry: Break): Promise<Run> {
  const source = copy.read(entry.file)
  const broken = applyBreak(source, entry)
  if (!broken.ok) throw new Error(broken.reason)
  copy.write(entry.file, broken.value)
  try {
    // A test that passes never takes this long; one that waits in vain ends soon.
    return await copy.test(entry.test, { only: entry.only, timeoutMs: 10_000 + 3000 * toSeconds(entry) })
  } finally {
    copy.write(entry.file, source)
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
