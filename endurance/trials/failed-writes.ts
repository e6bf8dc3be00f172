/** Commands on a list whose service could not write: what they report survives a power cut. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { check, checkDuring, toSample } from '../check.ts'
import { CUTS, createDisk } from '../power/disk.ts'
import { LIST } from '../power/recorded-run.ts'
import { checkIntegrity } from '../power/states.ts'
import { type List, type Service, toList, toOutput } from '../rollcall.ts'
import { byIdentity, checkNoneLost, readRows } from '../rows.ts'
import { readRecordings, toRecorder, waitForRecording } from '../strace.ts'
import type { Trial, TrialContext } from '../trial.ts'

/** What becomes of the service right after the write that fails. One that stands still has not recovered, and still has the list open. */
const ENDS = { killed: 'SIGKILL', 'stands still': 'SIGSTOP' } as const
type End = keyof typeof ENDS

/** Most requests until one meets the sync that fails. */
const MOST_REQUESTS = 200

export const failedWrites: Trial = {
  name: 'failed-writes',
  promise:
    'on a disk that forgets what it could not write, a service could not write, and was killed or stood still at once: what an import and a removal then report survives a power cut',
  minutes: { sqlite: 1 },
  needs: ['strace'],
  async run(context) {
    let cuts = 0
    for (let round = 0; round < context.amount(5, 1); round++) {
      for (const end of Object.keys(ENDS) as End[]) {
        const folder = join(context.folder, `${round}-${end.replace(' ', '-')}`)
        cuts += await checkDuring(`when the service ${end}`, () => runRound({ ...context, folder }, end))
      }
    }
    return { 'power cuts': cuts }
  },
}

/** @returns the number of power cuts */
async function runRound({ folder, random }: TrialContext, end: End): Promise<number> {
  const root = join(folder, 'disk')
  mkdirSync(root, { recursive: true })
  const list = toList(`sqlite:${join(root, LIST)}`, folder)
  const logs: string[] = []
  const record = (failing?: string) => {
    const log = join(folder, `recording-${logs.length}`)
    logs.push(log)
    return toRecorder(log, failing)
  }
  // Each thread counts its own syncs. The first ones are those of the start.
  const by = record(`fsync,fdatasync:error=EIO:when=${random.between(20, 40)}`)
  const service = await list.serve({ by })
  const acknowledged = await subscribeUntilFailure(service)
  service.process.kill(ENDS[end])

  async function run(args: readonly string[]): Promise<void> {
    const recorder = record()
    const verb = list.start(args, { by: recorder })
    toOutput(args, await verb.ended)
    await waitForRecording(recorder.at(-1) ?? '', verb.process.pid)
  }
  const imported = Array.from({ length: 20 }, (_, index) => `import${index}@example.org`)
  writeFileSync(join(folder, 'import.txt'), `${imported.join('\n')}\n`)
  await run(['import', 'import.txt'])
  const removed = acknowledged.splice(0, 2)
  await run(['remove', ...removed])
  const position = (Date.now() + 1) * 1000
  service.process.kill('SIGKILL')
  await waitForRecording(by.at(-1) ?? '', service.process.pid)

  const calls = readRecordings(logs).filter((call) => call.end <= position)
  const failed = calls.filter(({ kind, path }) => kind === 'failed sync' && path === `${list.file}-wal`)
  check(failed.length === 1, () => `${failed.length} syncs of the log failed: the trial itself does not work`)
  const disk = createDisk(root)
  for (const call of calls) disk.apply(call)
  for (const kind of CUTS) {
    const state = join(folder, 'cut')
    disk.cut(kind, random, (path) => path.replace(root, state))
    const left = toList(`sqlite:${join(state, LIST)}`, state)
    await checkDuring(`after a cut (${kind})`, () => checkLeft(left, [...acknowledged, ...imported], removed))
    rmSync(state, { recursive: true, force: true })
  }
  return CUTS.length
}

/** Subscribes addresses until one gets no 200. @returns those before it */
async function subscribeUntilFailure({ port }: Service): Promise<string[]> {
  const acknowledged: string[] = []
  while (acknowledged.length < MOST_REQUESTS) {
    const email = `user${acknowledged.length}@example.org`
    const response = await fetch(`http://127.0.0.1:${port}/api/newsletter`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email }),
    })
    if (!response.ok) return acknowledged
    acknowledged.push(email)
  }
  throw new Error('no request met the sync that fails: the trial itself does not work')
}

async function checkLeft(list: List, expected: readonly string[], removed: readonly string[]): Promise<void> {
  const listed = byIdentity(await readRows(list))
  checkNoneLost(listed, expected)
  const back = removed.filter((identity) => listed.has(identity))
  check(back.length === 0, () => `${back.length} removed addresses are back: ${toSample(back)}`)
  checkIntegrity(list.file)
}
