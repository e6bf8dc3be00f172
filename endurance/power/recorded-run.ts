/** A run of the service and of commands, in which every system call on the disk is recorded. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitFor } from '../check.ts'
import { type Exchange, type LoadOptions, startLoad } from '../load.ts'
import type { Random } from '../random.ts'
import { type List, type Service, toList, toOutput, type Verb } from '../rollcall.ts'
import { byIdentity, EVERYTHING, parseRows, type Row } from '../rows.ts'
import { type Call, readRecordings, toRecorder, waitForRecording } from '../strace.ts'
import type { TrialContext } from '../trial.ts'

const DISK = 'disk'

/** Where the list and its backup are, on the disk that loses power. */
export const LIST = 'data/rollcall.db'
export const BACKUP = 'backup.db'

/** What the run was promised, and when, in microseconds since 1970. */
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
  /** The folder that is the disk, and what happened to it. */
  readonly root: string
  readonly calls: readonly Call[]
  /** The list at the end, by identity. */
  readonly rows: ReadonlyMap<string, Row>
}

interface Parts extends Promises {
  readonly list: List
  readonly random: Random
  readonly folder: string
  /** The recordings, one for each process. */
  readonly logs: string[]
  /** Which calls of the next services fail. */
  readonly failing: string[]
}

/** A moment after everything that has been seen, and one before everything that follows: the clock has milliseconds. */
const toAfter = () => (Date.now() + 1) * 1000
const toBefore = () => Date.now() * 1000

/** One request in so many repeats an address, in another spelling. */
const REPEATS = 5

/** Milliseconds without a request in which the service compacts. */
const COMPACTION_MS = 1_000

/** The load of a full run. */
const REQUESTS = 20_000
const IMPORTED = 5_000

/** Sign-ups that come alone, each of which is compacted by itself, and the milliseconds between two of them. */
const QUIET = 25
const QUIET_MS = 350

/**
 * Runs the service under load, with a kill, and commands at the same time.
 *
 * @param failing which calls of the first and of the second service fail: see `toRecorder`
 */
export async function recordRun(
  { folder, amount, random }: TrialContext,
  failing: readonly string[] = [],
): Promise<RecordedRun> {
  const root = join(folder, DISK)
  mkdirSync(root)
  const parts: Parts = {
    acknowledged: new Map(),
    removed: new Map(),
    sent: new Set(),
    backups: [],
    list: toList(`sqlite:${join(root, LIST)}`, folder),
    random,
    folder,
    logs: [],
    failing: [...failing],
  }
  const total = amount(REQUESTS, 4_000)
  let service = await serve(parts)

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
  service = await serve(parts)
  await second.reach(0.6)
  await run(parts, ['count'])
  await second.ended

  const third = startRequests(parts, () => service.port, total * 0.2)
  await killCount(parts)
  // Over the first one.
  await backUp(parts)
  await third.ended
  await Bun.sleep(COMPACTION_MS)
  await startRequests(parts, () => service.port, amount(QUIET, 10), { callers: 1, pauseMs: QUIET_MS }).ended
  await service.stop()
  // Also recorded: a command that only reads changes the header when it opens and closes the list.
  const rows = parseRows(await run(parts, ['export', ...EVERYTHING]))
  return { ...parts, root, calls: readRecordings(parts.logs), rows: byIdentity(rows) }
}

function addRecorder({ logs, folder }: Parts, failing?: string): string[] {
  const log = join(folder, `recording-${logs.length}`)
  logs.push(log)
  return toRecorder(log, failing)
}

/** Starts a service. After its end, its recording is complete. */
async function serve(parts: Parts): Promise<Service> {
  const by = addRecorder(parts, parts.failing.shift())
  const service = await parts.list.serve({ by })
  return {
    ...service,
    async stop(signal) {
      const code = await service.stop(signal)
      await waitForRecording(by.at(-1) ?? '', service.process.pid)
      return code
    },
  }
}

/** Starts a command. At its end, its recording is complete. */
function start(parts: Parts, args: readonly string[]): Verb {
  const by = addRecorder(parts)
  const verb = parts.list.start(args, { by })
  const ended = verb.ended.then(async (result) => {
    await waitForRecording(by.at(-1) ?? '', verb.process.pid)
    return result
  })
  return { ...verb, ended }
}

/** Runs a command that must succeed. Returns what it prints. */
async function run(parts: Parts, args: readonly string[]): Promise<string> {
  return toOutput(args, await start(parts, args).ended)
}

/** Subscribes so many addresses. */
function startRequests(
  { acknowledged, sent, random }: Parts,
  toPort: () => number,
  total: number,
  pace: Pick<LoadOptions, 'callers' | 'pauseMs'> = { callers: 16 },
) {
  const answered: string[] = []
  let started = 0
  function next() {
    if (started >= total) return undefined
    // Only those that are never removed: see removeSome.
    if (started++ % REPEATS === 1 && answered.length > 0) return { email: random.pick(answered).toUpperCase() }
    const email = `${sent.size % 10 === 0 ? 'remove' : 'power'}${sent.size}@example.org`
    sent.add(email)
    function onReply({ status }: Exchange): void {
      if (status !== 200) return
      acknowledged.set(email, toAfter())
      if (email.startsWith('power')) answered.push(email)
    }
    return { email, onReply }
  }
  const load = startLoad(toPort, { ...pace, next })
  return { ...load, reach: (share: number) => waitFor('the load goes on', () => started >= total * share, 120_000) }
}

async function importSome(parts: Parts, rows: number): Promise<void> {
  const { folder, acknowledged, sent } = parts
  const emails = Array.from({ length: rows }, (_, index) => `import${index}@example.org`)
  for (const email of emails) sent.add(email)
  writeFileSync(join(folder, 'import.txt'), `${emails.join('\n')}\n`)
  await run(parts, ['import', 'import.txt'])
  for (const email of emails) acknowledged.set(email, toAfter())
}

async function removeSome(parts: Parts): Promise<void> {
  const emails = [...parts.acknowledged.keys()].filter((email) => email.startsWith('remove'))
  const from = toBefore()
  for (const email of emails) parts.removed.set(email, { from, to: Number.POSITIVE_INFINITY })
  await run(parts, ['remove', ...emails])
  for (const email of emails) parts.removed.set(email, { from, to: toAfter() })
}

async function backUp(parts: Parts): Promise<void> {
  const from = toBefore()
  await run(parts, ['backup', join(parts.folder, DISK, BACKUP)])
  parts.backups.push({ from, to: toAfter() })
}

/** Kills a command while it moves addresses. */
async function killCount(parts: Parts): Promise<void> {
  const killed = start(parts, ['count'])
  await Bun.sleep(parts.random.between(200, 500))
  killed.process.kill('SIGKILL')
  await killed.ended
}
