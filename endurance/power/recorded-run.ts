/** A run of the service and of commands, in which every operation on the disk is recorded. */

import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitFor } from '../check.ts'
import { startLoad } from '../load.ts'
import type { Random } from '../random.ts'
import { endProcesses, type List, toList } from '../rollcall.ts'
import { byIdentity, EVERYTHING, parseRows, type Row } from '../rows.ts'
import { buildShim, toShimEnvironment } from '../shim/shim.ts'
import type { TrialContext } from '../trial.ts'

const DISK = 'disk'

/** Where the list and its backup are, on the disk that loses power. */
export const LIST = 'data/rollcall.db'
export const BACKUP = 'backup.db'

/** What the run was promised, by position in the recording. */
export interface Promises {
  /** Where each identity was acknowledged first. */
  readonly acknowledged: Map<string, number>
  /** Where each identity may have been removed at the earliest, and was removed at the latest. */
  readonly removed: Map<string, { readonly from: number; to: number }>
  readonly sent: Set<string>
  /** Where each backup began and had ended. */
  readonly backups: { readonly from: number; readonly to: number }[]
}

export interface RecordedRun extends Promises {
  /** The folder that is the disk, and the recording of what happened to it. */
  readonly root: string
  readonly log: string
  /** The list at the end, by identity. */
  readonly rows: ReadonlyMap<string, Row>
}

interface Parts extends Promises {
  readonly list: List
  readonly random: Random
  readonly folder: string
  readonly env: Record<string, string>
  /** Where the recording is now: a position before which everything has happened that has been seen. */
  readonly position: () => number
}

/** One request in so many repeats an address, in another spelling. */
const REPEATS = 5

/** Milliseconds without a request in which the service compacts. */
const COMPACTION_MS = 1_000

/** The load of a full run. */
const REQUESTS = 40_000
const IMPORTED = 5_000

/** Runs the service under load, with a kill, and commands at the same time. All write through the shim. */
export async function recordRun({ folder, amount, random }: TrialContext): Promise<RecordedRun> {
  const root = join(folder, DISK)
  const log = join(folder, 'operations.log')
  mkdirSync(root)
  const parts: Parts = {
    acknowledged: new Map(),
    removed: new Map(),
    sent: new Set(),
    backups: [],
    list: toList(`sqlite:${join(root, LIST)}`, folder),
    random,
    folder,
    env: { ...toShimEnvironment(buildShim(folder), { folder: root, log }) },
    position: () => statSync(log).size,
  }
  const { list, env } = parts
  const total = amount(REQUESTS, 8_000)
  let service = await list.serve({ env })

  const first = startRequests(parts, () => service.port, total * 0.4)
  await first.reach(0.3)
  await importSome(parts, amount(IMPORTED, 1_000))
  await backUp(parts)
  await first.ended
  await Bun.sleep(COMPACTION_MS)

  const second = startRequests(parts, () => service.port, total * 0.4)
  await second.reach(0.2)
  await removeSome(parts)
  await service.stop('SIGKILL')
  service = await list.serve({ env })
  await second.reach(0.6)
  await list.run(['count'], { env })
  await second.ended

  const third = startRequests(parts, () => service.port, total * 0.2)
  await killCount(parts)
  // Over the first one.
  await backUp(parts)
  await third.ended
  await Bun.sleep(COMPACTION_MS)
  await service.stop()
  // Also recorded: a command that only reads changes the header when it opens and closes the list.
  const rows = parseRows(await list.run(['export', ...EVERYTHING], { env }))
  endProcesses()
  return { ...parts, root, log, rows: byIdentity(rows) }
}

/** Subscribes so many addresses. */
function startRequests({ acknowledged, sent, random, position }: Parts, toPort: () => number, total: number) {
  const answered: string[] = []
  let started = 0
  const load = startLoad(toPort, {
    callers: 16,
    nextEmail() {
      if (started >= total) return undefined
      // Only those that are never removed: see removeSome.
      if (started++ % REPEATS === 1 && answered.length > 0) return random.pick(answered).toUpperCase()
      const email = `${sent.size % 10 === 0 ? 'remove' : 'power'}${sent.size}@example.org`
      sent.add(email)
      return email
    },
    onReply({ email, status }) {
      if (status !== 200 || acknowledged.has(email.toLowerCase())) return
      acknowledged.set(email, position())
      if (email.startsWith('power')) answered.push(email)
    },
  })
  return { ...load, reach: (share: number) => waitFor('the load goes on', () => started >= total * share, 120_000) }
}

async function importSome({ list, folder, env, acknowledged, sent, position }: Parts, rows: number): Promise<void> {
  const emails = Array.from({ length: rows }, (_, index) => `import${index}@example.org`)
  for (const email of emails) sent.add(email)
  writeFileSync(join(folder, 'import.txt'), `${emails.join('\n')}\n`)
  await list.run(['import', 'import.txt'], { env })
  for (const email of emails) acknowledged.set(email, position())
}

async function removeSome({ list, folder, env, acknowledged, removed, position }: Parts): Promise<void> {
  const emails = [...acknowledged.keys()].filter((email) => email.startsWith('remove'))
  const from = position()
  for (const email of emails) removed.set(email, { from, to: Number.POSITIVE_INFINITY })
  writeFileSync(join(folder, 'remove.txt'), `${emails.join('\n')}\n`)
  await list.run(['remove', '--file', 'remove.txt'], { env })
  for (const email of emails) removed.set(email, { from, to: position() })
}

async function backUp({ list, folder, env, backups, position }: Parts): Promise<void> {
  const from = position()
  await list.run(['backup', join(folder, DISK, BACKUP)], { env })
  backups.push({ from, to: position() })
}

/** Kills a command while it moves addresses. */
async function killCount({ list, env, random }: Parts): Promise<void> {
  const killed = list.start(['count'], { env })
  await Bun.sleep(random.between(100, 300))
  killed.process.kill('SIGKILL')
  await killed.ended
}
