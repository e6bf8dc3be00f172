/** Power cuts: a recorded run of the service and of commands, cut at random points, with random losses. */

import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { checkDuring } from '../check.ts'
import { type RecordedRun, recordRun } from '../power/recorded-run.ts'
import { checkReplay, checkState } from '../power/states.ts'
import type { Random } from '../random.ts'
import { CUTS, type Cut, createDisk, type Disk } from '../shim/disk.ts'
import { readRecording } from '../shim/recording.ts'
import { findMissingCompiler } from '../shim/shim.ts'
import type { Trial, TrialContext } from '../trial.ts'

interface PowerCut {
  /** In the recording: what is recorded before it has happened. */
  readonly position: number
  readonly kind: Cut
}

export const powerCuts: Trial = {
  name: 'power-cuts',
  promise:
    '100 power cuts that drop, keep or tear what was not synced: nothing acknowledged is lost, nothing is damaged',
  minutes: { sqlite: 1.5 },
  findMissing: findMissingCompiler,
  async run(context) {
    const { folder, random, amount, progress } = context
    const run = await recordRun(context)
    const size = statSync(run.log).size
    const cuts = toCuts(amount(100, 10), size, run, random)
    progress(`${run.acknowledged.size} addresses are acknowledged; ${cuts.length} cuts follow`)
    const counts: number[] = []
    const disk = createDisk()
    for (const record of readRecording(run.log)) {
      for (let cut = cuts[0]; cut && cut.position < record.position; cut = cuts[0]) {
        counts.push(await cutPower(disk, cut, run, context))
        cuts.shift()
      }
      disk.apply(record)
    }
    const state = join(folder, 'replayed')
    disk.cut('keep all', random, (path) => path.replace(run.root, state))
    checkReplay(state, run.root)
    return {
      figures: {
        'power cuts': counts.length,
        'recorded MiB': size / 2 ** 20,
        'addresses acknowledged in the run': run.acknowledged.size,
        'most addresses after a cut': Math.max(...counts),
      },
    }
  },
}

/** Half of the cuts come right after a response, where the least may be missing; the others anywhere. */
function toCuts(count: number, size: number, { acknowledged }: RecordedRun, random: Random): PowerCut[] {
  const answered = [...acknowledged.values()]
  return Array.from({ length: count }, (_, index) => ({
    position: Math.min(index % 2 === 0 ? random.pick(answered) : random.below(size), size - 1),
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
    return await checkDuring(`after a cut at byte ${position} of the recording (${kind})`, () =>
      checkState(state, position, run),
    )
  } finally {
    rmSync(state, { recursive: true, force: true })
  }
}
