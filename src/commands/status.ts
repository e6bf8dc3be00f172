import { toListName } from '../config/list-url.ts'
import { Failure, toNumber } from '../failure.ts'
import { replaceFile } from '../files.ts'
import { checkLatest } from '../store/check.ts'
import { countRecent, type StoreStatus } from '../subscriber.ts'
import { print, printJson } from './output.ts'
import { parseListOption, type VerbOptions, withStore } from './shared.ts'

/** `maxSilence` is in milliseconds; `html` is the file for the picture. */
type StatusOptions = VerbOptions & { readonly maxSilence?: number; readonly html?: string }

/** `rollcall status`: prints the state of the list. */
export async function status({ maxSilence, html, json, ...options }: StatusOptions): Promise<void> {
  const list = parseListOption(options)
  const [found, failure] = await withStore(list, async (store) => [
    await store.status(),
    await store.ready().then(
      () => undefined,
      (error: Error) => error.message,
    ),
  ])
  const problem = failure ?? ((found.freeBytes ?? Infinity) < MIN_COMMIT_BYTES ? 'the disk is full' : undefined)
  const name = toListName(list)
  if (html !== undefined) {
    // Other uses of the command start faster without these.
    const { readSite } = await import('../config/config.ts')
    const { renderStatus } = await import('./status-html.tsx')
    await replaceFile(html, renderStatus(readSite().site, found, problem))
  } else await (json ? printJson(toJson(name, found, problem)) : print(toText(name, found, problem)))
  if (problem !== undefined) throw new Failure(problem)
  checkLatest(found.lastAcceptedAt)
  checkSilence(found, maxSilence)
}

/** The space that a commit may need. A check writes nothing, so it does not notice a full disk. */
const MIN_COMMIT_BYTES = 256 * 1024

/** @throws Failure when no address was accepted for longer than `maxSilence` */
function checkSilence({ lastAcceptedAt }: StoreStatus, maxSilence: number | undefined): void {
  if (maxSilence === undefined) return
  if (!lastAcceptedAt) throw new Failure('no address was ever accepted')
  if (Date.now() - lastAcceptedAt.getTime() <= maxSilence) return
  throw new Failure(`the last address was accepted at ${toTime(lastAcceptedAt)}`)
}

function toJson(list: string, { lastAcceptedAt, freeBytes, ...numbers }: StoreStatus, problem: string | undefined) {
  return {
    list,
    ...numbers,
    free_bytes: freeBytes ?? null,
    last_accepted_at: lastAcceptedAt ?? null,
    writable: problem === undefined,
    problem: problem ?? null,
  }
}

/** All lines but the chart, the name of the list and a problem fit in 40 columns. */
function toText(list: string, found: StoreStatus, problem: string | undefined): string {
  const { subscribers, imported, reserved, suppressed, lastAcceptedAt, days, bytes, freeBytes } = found
  const period = (count: number) => [`${count} days`, `${toNumber(countRecent(days, count))} before today`]
  const rows = [
    ['list', list],
    ['size', `${toNumber(Math.ceil(bytes / 1024))} KiB`],
    ...(freeBytes === undefined ? [] : [['free', `${toNumber(Math.floor(freeBytes / 2 ** 20))} MiB`]]),
    ['writable', problem === undefined ? 'yes' : `no: ${problem}`],
    ['addresses', toNumber(subscribers)],
    ['imported', toNumber(imported)],
    ['reserved', toNumber(reserved)],
    ['suppressed', toNumber(suppressed)],
    ['accepted', lastAcceptedAt ? toTime(lastAcceptedAt) : 'never'],
    ['today', toNumber(days.at(-1)?.added ?? 0)],
    ...[7, 30, 90].map(period),
  ]
  return [...rows.map(([name = '', value]) => `${name.padEnd(12)}${value}`), '', ...toChart(days.slice(1))].join('\n')
}

/** Lines of the chart. */
const HEIGHT = 6

/** The parts of a column in a line, in eighths. */
const BLOCKS = ' ▁▂▃▄▅▆▇█'

/** A column for each of 90 days, which fits into a terminal of 100 columns. The highest one is HEIGHT lines high. */
function toChart(days: StoreStatus['days']): string[] {
  const highest = Math.max(...days.map(({ added }) => added), 1)
  // In eighths of a line. A day with an address has at least one.
  const columns = days.map(({ added }) => Math.ceil((added / highest) * HEIGHT * 8))
  const lines = Array.from({ length: HEIGHT }, (_, index) => {
    const below = (HEIGHT - 1 - index) * 8
    const bars = columns.map((eighths) => BLOCKS[Math.min(Math.max(eighths - below, 0), 8)])
    return bars.join('').trimEnd()
  })
  const best = `most on a day: ${toNumber(highest)}`
  const [first, last] = [days[0]?.date ?? '', days.at(-1)?.date ?? '']
  const middle = days.length - first.length - last.length
  return [...lines, first + best.padStart((middle + best.length) / 2).padEnd(middle) + last]
}

/** In UTC, without milliseconds. */
const toTime = (date: Date) => `${date.toISOString().slice(0, 19)}Z`
