/** Power cuts: a recorded run of the service and of commands, cut at random points, with random losses. */

import { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startLoad } from '../load.ts'
import type { Random } from '../random.ts'
import { byIdentity, endProcesses, readList, runVerb, startService, startVerb } from '../rollcall.ts'
import { CUTS, type Cut, createDisk } from '../shim/disk.ts'
import { readRecording } from '../shim/recording.ts'
import { buildShim, findMissingCompiler, toShimEnvironment } from '../shim/shim.ts'
import { BrokenPromise, check, type Trial, type TrialContext, toSample, waitFor } from '../trial.ts'

/** What the run was promised, by position in the log of operations. */
interface Ledger {
  /** Where each subscribe request was answered 200. */
  readonly acknowledged: Map<string, number>
  /** Where each address may have been removed at the earliest, and was removed at the latest. */
  readonly removed: Map<string, { readonly from: number; to: number }>
  readonly sent: Set<string>
}

const FILE = 'data/rollcall.db'

export const powerCuts: Trial = {
  name: 'power-cuts',
  promise:
    '100 power cuts that drop, keep or tear what was not synced: nothing acknowledged is lost, nothing is damaged',
  stores: ['sqlite'],
  minutes: 2,
  findMissing: findMissingCompiler,
  async run(context) {
    const { folder, random, amount, progress } = context
    const log = join(folder, 'operations.log')
    const ledger = await record(context, log)
    const cuts = toCuts(amount(100, 10), statSync(log).size, ledger, random)
    progress(`${ledger.acknowledged.size} addresses are acknowledged; ${cuts.length} cuts follow`)
    const root = join(folder, 'disk')
    const disk = createDisk()
    let next = 0
    let largest = 0
    for (const operation of readRecording(log)) {
      for (; next < cuts.length && (cuts[next]?.position ?? 0) < operation.position; next++) {
        const cut = cuts[next] as PowerCut
        const state = join(folder, 'cut')
        disk.cut(cut.kind, random, (path) => path.replace(root, state))
        largest = Math.max(largest, await checkState(state, cut, ledger))
        rmSync(state, { recursive: true, force: true })
      }
      disk.apply(operation)
    }
    return {
      'power cuts': next,
      'recorded MiB': statSync(log).size / 2 ** 20,
      'addresses acknowledged in the run': ledger.acknowledged.size,
      'most addresses in one state': largest,
    }
  },
}

/** Runs the service under load, with a kill, and commands at the same time. All write through the shim. */
async function record({ folder, amount, random }: TrialContext, log: string): Promise<Ledger> {
  const root = join(folder, 'disk')
  mkdirSync(root)
  const list = `sqlite:${join(root, FILE)}`
  const options = { folder, env: toShimEnvironment(buildShim(folder), { folder: root, log }) }
  const ledger: Ledger = { acknowledged: new Map(), removed: new Map(), sent: new Set() }
  const position = () => statSync(log).size
  const total = amount(40_000, 8_000)
  let started = 0
  let service = await startService(list, options)
  const load = startLoad(() => service.port, {
    callers: 16,
    nextEmail() {
      if (started >= total) return undefined
      const email = `power${started++}@example.org`
      ledger.sent.add(email)
      return email
    },
    onReply({ email, status }) {
      if (status === 200) ledger.acknowledged.set(email, position())
    },
  })
  const reach = (share: number) => waitFor('the load goes on', () => started >= total * share, 120_000)

  await reach(0.2)
  await runImport(list, options, ledger, amount(5_000, 1_000), position)
  await reach(0.4)
  await runRemove(list, options, ledger, position)
  await service.stop('SIGKILL')
  service = await startService(list, options)
  await reach(0.6)
  await runVerb(['count'], list, options)
  await reach(0.8)
  // A command that is killed while it moves addresses, too.
  const killed = startVerb(['count'], list, options)
  await Bun.sleep(random.between(100, 300))
  killed.process.kill('SIGKILL')
  await load.ended
  // Time for compaction, which starts when nothing arrives.
  await Bun.sleep(1_000)
  await service.stop()
  endProcesses()
  return ledger
}

type Options = Parameters<typeof runVerb>[2]

async function runImport(
  list: string,
  options: Options,
  { acknowledged, sent }: Ledger,
  rows: number,
  position: () => number,
): Promise<void> {
  const emails = Array.from({ length: rows }, (_, index) => `import${index}@example.org`)
  for (const email of emails) sent.add(email)
  writeFileSync(join(options.folder, 'import.txt'), `${emails.join('\n')}\n`)
  await runVerb(['import', 'import.txt'], list, options)
  for (const email of emails) acknowledged.set(email, position())
}

async function runRemove(
  list: string,
  options: Options,
  { acknowledged, removed }: Ledger,
  position: () => number,
): Promise<void> {
  const emails = [...acknowledged.keys()].filter((_, index) => index % 10 === 0)
  for (const email of emails) removed.set(email, { from: position(), to: Number.POSITIVE_INFINITY })
  writeFileSync(join(options.folder, 'remove.txt'), `${emails.join('\n')}\n`)
  await runVerb(['remove', '--file', 'remove.txt'], list, options)
  for (const email of emails) removed.set(email, { from: removed.get(email)?.from ?? 0, to: position() })
}

interface PowerCut {
  /** In the log: what is recorded before it has happened. */
  readonly position: number
  readonly kind: Cut
}

/** Half of the cuts come right after a response, where the least may be missing; the others anywhere. */
function toCuts(count: number, size: number, { acknowledged }: Ledger, random: Random): PowerCut[] {
  const answered = [...acknowledged.values()]
  return Array.from({ length: count }, (_, index) => ({
    position: index % 2 === 0 && answered.length > 0 ? random.pick(answered) : random.below(size),
    kind: CUTS[index % CUTS.length] ?? 'drop all',
  })).sort((one, other) => one.position - other.position)
}

/** Opens a state as its owner would. Returns the number of addresses in it. */
async function checkState(state: string, cut: PowerCut, ledger: Ledger): Promise<number> {
  try {
    return await openState(state, cut.position, ledger)
  } catch (error) {
    if (!(error instanceof BrokenPromise)) throw error
    throw new BrokenPromise(`after a cut at byte ${cut.position} of the log (${cut.kind}): ${error.message}`)
  }
}

async function openState(state: string, position: number, ledger: Ledger): Promise<number> {
  const list = `sqlite:${join(state, FILE)}`
  mkdirSync(state, { recursive: true })
  const expected = [...ledger.acknowledged].filter(([, at]) => at <= position).map(([email]) => email)
  // Before the first response there may be no list yet, or an empty file, which the service must take.
  if (expected.length === 0) await (await startService(list, { folder: state })).stop()
  check(existsSync(join(state, FILE)), () => 'the list is not there')
  const count = Number(await runVerb(['count'], list, { folder: state }))
  const rows = await readList(list, { folder: state })
  check(rows.length === count, () => `count says ${count}, and the export has ${rows.length} rows`)
  const listed = byIdentity(rows)
  const never = { from: Number.POSITIVE_INFINITY, to: Number.POSITIVE_INFINITY }
  const toRemoval = (email: string) => ledger.removed.get(email) ?? never
  const lost = expected.filter((email) => !listed.has(email) && toRemoval(email).from > position)
  check(lost.length === 0, () => `${lost.length} acknowledged addresses are lost: ${toSample(lost)}`)
  const back = [...listed.keys()].filter((email) => toRemoval(email).to <= position)
  check(back.length === 0, () => `${back.length} removed addresses are back: ${toSample(back)}`)
  const strange = [...listed.keys()].filter((email) => !ledger.sent.has(email))
  check(strange.length === 0, () => `addresses that nobody sent are listed: ${toSample(strange)}`)
  using db = new Database(join(state, FILE))
  const problems = db.query<{ integrity_check: string }, []>('PRAGMA integrity_check').all()
  check(problems[0]?.integrity_check === 'ok', () => `the file is damaged: ${toSample(problems)}`)
  return count
}
