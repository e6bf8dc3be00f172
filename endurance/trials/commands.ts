/** An owner's commands beside requests: nobody waits for them, and no request fails. */

import { join } from 'node:path'
import { createList as createLarge, toCheckout } from '../../bench/lists.ts'
import { TOGETHER } from '../../bench/load.ts'
import { ROOT } from '../../test/support/paths.ts'
import { check } from '../check.ts'
import { type Exchange, startLoad } from '../load.ts'
import { type List, toList } from '../rollcall.ts'
import type { Figures, Trial, TrialContext } from '../trial.ts'

/** Twenty single requests a second from one caller, or as many as 64 connections can send. */
const LOADS = [
  { name: '20 requests/s', callers: 1, pauseMs: 50 },
  { name: '64 connections', callers: 64, pauseMs: 0 },
] as const

/** The longest wait that a command may cause at 20 requests a second, in seconds. */
const LONGEST_WAIT = 0.3

/** How long the load runs before and after each command. */
const QUIET_MS = 2000

/** Addresses that one removal gets as arguments, and another one as a file. */
const REMOVED = 50_000

const PROMISE =
  'no request waits more than 0.3 s because of a command at 20 requests/s, and no request fails at 64 connections'

export const commands: Trial = {
  name: 'commands',
  promise: `an import of a million, two removals of 50,000, a copy, a backup and a count beside requests: ${PROMISE}`,
  minutes: { sqlite: 3, postgres: 4 },
  run: async (context) => await runCommands(await context.createList(), 0, context),
}

export const commandsLarge: Trial = {
  name: 'commands-large',
  promise: `the same commands on a list of ten million: ${PROMISE}`,
  minutes: { sqlite: 8 },
  async run(context) {
    context.progress('the list of ten million is made once, and kept in bench/results')
    const checkout = await toCheckout(ROOT)
    const { url } = await createLarge('large', { checkout, folder: context.folder, pins: TOGETHER, isFresh: true })
    const list = toList(url, context.folder)
    return await runCommands(list, Number(await list.run(['count'])), context)
  },
}

/** What came of the requests that were sent during a command. */
interface Tally {
  requests: number
  failed: number
  /** In seconds. */
  longest: number
}

async function runCommands(list: List, listed: number, context: TrialContext): Promise<Figures> {
  const { progress } = context
  const figures: Record<string, string> = {}
  const broken: string[] = []
  let expected = listed
  for (const [phase, { name, ...load }] of LOADS.entries()) {
    const verbs = await toVerbs(list, phase, context)
    const service = await list.serve()
    let tally: Tally = { requests: 0, failed: 0, longest: 0 }
    const callers = startLoad(() => service.port, {
      ...load,
      next() {
        const sentDuring = tally
        const onReply = ({ status, startedAt, endedAt }: Exchange) => {
          sentDuring.requests++
          sentDuring.longest = Math.max(sentDuring.longest, (endedAt - startedAt) / 1000)
          if (status === 200) expected++
          else sentDuring.failed++
        }
        return { email: `${crypto.randomUUID()}@callers.lan`, onReply }
      },
    })
    const quiet = tally
    for (const { title, args, adds } of verbs) {
      await Bun.sleep(QUIET_MS)
      const [during, start] = [{ requests: 0, failed: 0, longest: 0 }, performance.now()]
      tally = during
      const { code, stderr } = await list.start(args).ended
      const seconds = (performance.now() - start) / 1000
      tally = quiet
      if (code === 0) expected += adds
      else broken.push(`${title} ends with ${code}: ${stderr.trim().split('\n').at(-1)}`)
      // The last requests of the command have their responses after the pause.
      await Bun.sleep(QUIET_MS)
      note(`${title}, ${name}`, during, `, took ${seconds.toFixed(1)} s`)
    }
    await callers.stop()
    note(`between the commands, ${name}`, quiet)
    check((await service.stop()) === 0, () => 'the service did not stop with 0')

    function note(row: string, { requests, failed, longest }: Tally, took = ''): void {
      figures[row] = `longest wait ${longest.toFixed(2)} s, ${failed} of ${requests} failed${took}`
      progress(`${row}: ${figures[row]}`)
      if (failed > 0) broken.push(`${row}: ${failed} of ${requests} requests failed`)
      if (phase === 0 && longest > LONGEST_WAIT) broken.push(`${row}: a request waited ${longest.toFixed(2)} s`)
    }
  }
  const count = Number(await list.run(['count']))
  if (count !== expected) broken.push(`count says ${count}, and ${expected} addresses were confirmed`)
  check(broken.length === 0, () => broken.join('; '))
  return figures
}

interface Verb {
  readonly title: string
  readonly args: readonly string[]
  /** How many addresses it adds to the list. */
  readonly adds: number
}

/** Writes the files of the commands, and returns these in their order. */
async function toVerbs(list: List, phase: number, { folder, store, amount }: TrialContext): Promise<Verb[]> {
  const size = amount(1_000_000, 4 * REMOVED)
  // In no order, as in a file that people import. The factor is odd, so each value comes once.
  const addresses = Array.from({ length: size }, (_, index) => `${toBits(index)}.${phase}@r.lan`)
  const removed = addresses.slice(0, REMOVED)
  const [file, left] = ['imported', 'left'].map((name) => join(folder, `${name}-${phase}.txt`)) as [string, string]
  await Bun.write(file, `${addresses.join('\n')}\n`)
  await Bun.write(left, `${addresses.slice(REMOVED, 2 * REMOVED).join('\n')}\n`)
  const copy = `sqlite:${join(folder, `copy-${phase}.db`)}`
  const none = { adds: 0 }
  return [
    { title: 'import of a million', args: ['import', file], adds: size },
    { title: 'removal of 50,000', args: ['remove', ...removed], adds: -REMOVED },
    { title: 'import --suppress of 50,000', args: ['import', '--suppress', left], adds: -REMOVED },
    { title: 'copy', args: ['copy', '--from', list.url, '--to', copy], ...none },
    ...(store === 'sqlite' ? [{ title: 'backup', args: ['backup', join(folder, `backup-${phase}.db`)], ...none }] : []),
    { title: 'count', args: ['count'], ...none },
  ]
}

function toBits(index: number): string {
  return (Math.imul(index, 0x9e3779b1) >>> 0).toString(36)
}
