/** Power cuts: a recorded run of the service and of commands, cut at random moments, with random losses. */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { checkDuring } from '../check.ts'
import { CUTS, type Cut, createDisk, type Disk } from '../power/disk.ts'
import { type RecordedRun, recordRun } from '../power/recorded-run.ts'
import { checkReplay, checkState } from '../power/states.ts'
import type { Random } from '../random.ts'
import type { Trial, TrialContext } from '../trial.ts'

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
  async run(context) {
    const { folder, random, amount, progress } = context
    const run = await recordRun(context)
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
    return {
      'power cuts': counts.length,
      'recorded calls': run.calls.length,
      'addresses acknowledged in the run': run.acknowledged.size,
      'most addresses after a cut': Math.max(...counts),
    }
  },
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
