import type { Command } from 'commander'
import { toListName } from '../store/open.ts'
import type { StoreStatus } from '../subscriber.ts'
import { parseDuration } from './arguments.ts'
import { createListCommand, type ListOption, toList, withStore } from './list.ts'
import { note, print, printJson } from './output.ts'

interface StatusOptions extends ListOption {
  readonly maxSilence?: number
  readonly json?: true
}

const DAYS = 30

/** Widest bar, in columns of the terminal. */
const BAR = 40

/** `rollcall status`: how the list is doing. */
export function createStatusCommand(): Command {
  return createListCommand('status', 'tell how the list is doing', 'rollcall status --max-silence 7d')
    .option(
      '--max-silence <span>',
      'exit with 1 if nothing was accepted for so long, such as 36h or 7d',
      parseDuration,
    )
    .option('--json', 'as JSON')
    .action(async (options: StatusOptions) => {
      const list = toList(options)
      const { status, fault } = await withStore(list, async (store) => ({
        status: await store.status(DAYS),
        fault: await store.check().then(
          () => undefined,
          (error: Error) => error.message,
        ),
      }))
      const name = toListName(list)
      await (options.json ? printJson(toJson(name, status, fault)) : print(toText(name, status, fault)))
      if (fault !== undefined || isSilent(status, options.maxSilence)) process.exitCode = 1
    })
}

function isSilent({ lastAcceptedAt }: StoreStatus, maxSilence: number | undefined): boolean {
  if (maxSilence === undefined) return false
  if (lastAcceptedAt && Date.now() - lastAcceptedAt.getTime() <= maxSilence) return false
  note(
    lastAcceptedAt ? `the last address was accepted ${toAgo(lastAcceptedAt)}` : 'nothing was ever accepted',
  )
  return true
}

function toJson(list: string, status: StoreStatus, fault: string | undefined) {
  const { lastAcceptedAt, ...rest } = status
  return {
    list,
    ...rest,
    last_accepted_at: lastAcceptedAt?.toISOString() ?? null,
    writable: fault === undefined,
  }
}

function toText(list: string, status: StoreStatus, fault: string | undefined): string {
  const { subscribers, reserved, suppressed, lastAcceptedAt, days, bytes } = status
  const number = (value: number) => value.toLocaleString('en')
  const rows = [
    ['list', `${list}, ${number(Math.ceil(bytes / 1024))} KiB`],
    ['writable', fault === undefined ? 'yes' : `no: ${fault}`],
    ['addresses', `${number(subscribers)}, ${number(reserved)} of them reserved`],
    ['suppressed', number(suppressed)],
    ['last accepted', lastAcceptedAt ? `${lastAcceptedAt.toISOString()}, ${toAgo(lastAcceptedAt)}` : 'never'],
  ]
  const head = rows.map(([name = '', value]) => `${name.padEnd(15)}${value}`)
  return [...head, '', ...toChart(days)].join('\n')
}

/** A bar for each day, the longest of them as wide as may be. */
function toChart(days: StoreStatus['days']): string[] {
  const most = Math.max(...days.map(({ added }) => added), 1)
  return days.map(({ date, added }) => {
    const bar = toBar((added / most) * BAR)
    return `${date}  ${bar}${bar && ' '}${added.toLocaleString('en')}`
  })
}

// U+2588 is a full block, and the seven after it grow thinner by an eighth each.
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
