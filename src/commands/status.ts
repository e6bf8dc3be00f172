import type { Command } from 'commander'
import { Failure } from '../failure.ts'
import { toListName } from '../store/list-name.ts'
import { findWarnings } from '../store/open.ts'
import type { StoreStatus } from '../subscriber.ts'
import { parseDuration } from './arguments.ts'
import { createListCommand, type ListOption, parseListOption, withStore } from './list-command.ts'
import { note, print, printJson } from './output.ts'

interface StatusOptions extends ListOption {
  readonly maxSilence?: number
  readonly json?: true
}

/** Days of the chart. */
const DAYS = 30

/** Longest bar, in columns of the terminal. */
const BAR_WIDTH = 40

/** `rollcall status`: prints the state of the list. */
export function createStatusCommand(): Command {
  return createListCommand(
    'status',
    'Print the state of the list and a chart of the last days',
    'rollcall status --max-silence 7d',
  )
    .option(
      '--max-silence <duration>',
      'Exit with 1 if no address was accepted for this long, such as 36h or 7d',
      parseDuration,
    )
    .option('--json', 'Print JSON')
    .action(async (options: StatusOptions) => {
      const list = parseListOption(options)
      const { status, problem } = await withStore(list, async (store) => ({
        status: await store.status(DAYS),
        problem: await store.check().then(
          () => undefined,
          (error: Error) => error.message,
        ),
      }))
      for (const warning of await findWarnings(list)) note(`warning: ${warning}`)
      const name = toListName(list)
      await (options.json ? printJson('status', toJson(name, status, problem)) : print(toText(name, status, problem)))
      if (problem !== undefined) throw new Failure(problem)
      checkSilence(status, options.maxSilence)
    })
}

/** @throws Failure when no address was accepted for longer than `maxSilence`, in milliseconds */
function checkSilence({ lastAcceptedAt }: StoreStatus, maxSilence: number | undefined): void {
  if (maxSilence === undefined) return
  if (lastAcceptedAt && Date.now() - lastAcceptedAt.getTime() <= maxSilence) return
  throw new Failure(
    lastAcceptedAt ? `the last address was accepted ${toAgo(lastAcceptedAt)}` : 'no address was ever accepted',
  )
}

function toJson(list: string, { lastAcceptedAt, ...status }: StoreStatus, problem: string | undefined) {
  return {
    list,
    ...status,
    last_accepted_at: lastAcceptedAt?.toISOString() ?? null,
    writable: problem === undefined,
    problem: problem ?? null,
  }
}

function toText(list: string, status: StoreStatus, problem: string | undefined): string {
  const { subscribers, reserved, suppressed, lastAcceptedAt, days, bytes } = status
  const toNumber = (value: number) => value.toLocaleString('en')
  const rows = [
    ['list', `${list}, ${toNumber(Math.ceil(bytes / 1024))} KiB`],
    ['writable', problem === undefined ? 'yes' : `no: ${problem}`],
    ['addresses', `${toNumber(subscribers)}, ${toNumber(reserved)} of them reserved`],
    ['suppressed', toNumber(suppressed)],
    ['last accepted', lastAcceptedAt ? `${lastAcceptedAt.toISOString()}, ${toAgo(lastAcceptedAt)}` : 'never'],
  ]
  const head = rows.map(([name = '', value]) => `${name.padEnd(15)}${value}`)
  return [...head, '', ...toChart(days)].join('\n')
}

/** A bar for each day; the longest is as wide as possible. */
function toChart(days: StoreStatus['days']): string[] {
  const highest = Math.max(...days.map(({ added }) => added), 1)
  return days.map(({ date, added }) => {
    const bar = toBar((added / highest) * BAR_WIDTH)
    return `${date}  ${bar}${bar && ' '}${added.toLocaleString('en')}`
  })
}

// U+2588 is a full block. Each of the seven characters after it is thinner by an eighth.
function toBar(columns: number): string {
  const eighths = columns > 0 ? Math.max(Math.round(columns * 8), 1) : 0
  const rest = eighths % 8
  return '\u2588'.repeat(Math.floor(eighths / 8)) + (rest > 0 ? String.fromCharCode(0x2590 - rest) : '')
}

const STEPS = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const

function toAgo(date: Date): string {
  const seconds = Math.max(Math.round((Date.now() - date.getTime()) / 1000), 0)
  const [size, unit] = STEPS.find(([step]) => seconds >= step) ?? [1, 'second']
  return new Intl.RelativeTimeFormat('en').format(-Math.floor(seconds / size), unit)
}
