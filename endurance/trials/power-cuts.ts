/** Power cuts: a recorded run of the service and of commands, cut at random moments, with random losses. */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { check, checkDuring } from '../check.ts'
import { CUTS, type Cut, createDisk, type Disk } from '../power/disk.ts'
import { LIST, type RecordedRun, recordRun } from '../power/recorded-run.ts'
import { checkReplay, checkState } from '../power/states.ts'
import type { Random } from '../random.ts'
import type { Figures, Trial, TrialContext } from '../trial.ts'

interface PowerCut {
  /** In microseconds since 1970: calls that had ended before have happened. */
  readonly position: number
  readonly kind: Cut
}

export const powerCuts: Trial = {
  name: 'power-cuts',
  promise:
    '100 power cuts that drop, keep or tear what was not synced: nothing acknowledged is lost, nothing is damaged',
  minutes: { sqlite: 2 },
  needs: ['strace'],
  run: (context) => runAndCut(context),
}

export const forgetfulDisk: Trial = {
  name: 'forgetful-disk',
  promise:
    '100 power cuts on a disk that forgets what it could not write, where some syncs of the service fail, and later ones succeed: nothing acknowledged is lost, nothing is damaged',
  minutes: { sqlite: 2 },
  needs: ['strace'],
  run(context) {
    const { random } = context
    // Not the first syncs, which are those of the start: it ends at an error.
    const first = random.between(20, 40)
    // The first service meets a failure again and again. The second one meets it in a commit, and then in the checkpoints that recover from
    // it: these sync the log, and then the list.
    const whens = [`${first}+${random.between(7, 20)}`, `${first}..${first + 4}+2`]
    return runAndCut(
      context,
      whens.map((when) => `fsync,fdatasync:error=EIO:when=${when}`),
    )
  },
}

async function runAndCut(context: TrialContext, failing: readonly string[] = []): Promise<Figures> {
  const { folder, random, amount, progress } = context
  const run = await recordRun(context, failing)
  const cuts = toCuts(amount(100, 10), run, random)
  progress(`${run.acknowledged.size} addresses are acknowledged; ${cuts.length} cuts follow`)
  const counts: number[] = []
  const disk = createDisk(run.root)
  for (const call of run.calls) {
    for (let cut = cuts[0]; cut && cut.position < call.end; cut = cuts[0]) {
      counts.push(await cutPower(disk, cut, run, context))
      cuts.shift()
    }
    disk.apply(call)
  }
  const state = join(folder, 'replayed')
  disk.cut('keep all', random, (path) => path.replace(run.root, state))
  checkReplay(state, run.root)
  const failed = countFailed(run)
  const isTried = failing.length === 0 || (failed.ofLog > 0 && failed.ofList > 0)
  check(
    isTried,
    () => `not both files had a sync that failed (${JSON.stringify(failed)}): the trial itself does not work`,
  )
  return {
    'power cuts': counts.length,
    'recorded calls': run.calls.length,
    'addresses acknowledged in the run': run.acknowledged.size,
    'most addresses after a cut': Math.max(...counts),
    ...(failing.length === 0
      ? {}
      : {
          'syncs of the log that failed': failed.ofLog,
          'syncs of the list that failed, each in a checkpoint': failed.ofList,
        }),
  }
}

/** A sync of the list itself is one of a checkpoint: its pages are lost, and must be moved again. */
function countFailed({ calls, root }: RecordedRun): { readonly ofLog: number; readonly ofList: number } {
  const list = join(root, LIST)
  const failed = calls.filter(({ kind }) => kind === 'failed sync')
  return {
    ofLog: failed.filter(({ path }) => path === `${list}-wal`).length,
    ofList: failed.filter(({ path }) => path === list).length,
  }
}

/** Half of the cuts come right after a response, where the least may be missing; the others after any call. */
function toCuts(count: number, { acknowledged, calls, root }: RecordedRun, random: Random): PowerCut[] {
  const answered = [...acknowledged.values()]
  const ends = calls.filter(({ path }) => path.startsWith(root)).map(({ end }) => end)
  const last = (ends.at(-1) ?? 0) - 1
  return Array.from({ length: count }, (_, index) => ({
    position: Math.min(random.pick(index % 2 === 0 ? answered : ends), last),
    kind: CUTS[index % CUTS.length] ?? 'drop all',
  })).sort((one, other) => one.position - other.position)
}

/** Cuts the power, and checks what is left. Returns the number of addresses on the list. */
async function cutPower(
  disk: Disk,
  { kind, position }: PowerCut,
  run: RecordedRun,
  { folder, random }: TrialContext,
): Promise<number> {
  const state = join(folder, 'cut')
  disk.cut(kind, random, (path) => path.replace(run.root, state))
  try {
    return await checkDuring(`after a cut at ${position} (${kind})`, () => checkState(state, position, run))
  } finally {
    rmSync(state, { recursive: true, force: true })
  }
}
