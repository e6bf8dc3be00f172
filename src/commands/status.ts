import { toListName } from '../config/list-url.ts'
import { Failure } from '../failure.ts'
import { replaceFile } from '../files.ts'
import { checkLatest } from '../store/check.ts'
import { countRecent, type StoreStatus, type SubscriberStore } from '../subscriber.ts'
import { toNumber } from '../words.ts'
import { print, printJson } from './output.ts'
import { nameList, parseListOption, type VerbOptions, withStore } from './shared.ts'

/** `maxSilence` is in milliseconds; `html` is the file for the web page with the chart. */
type StatusOptions = VerbOptions & { readonly maxSilence?: number; readonly html?: string }

/** `rollcall status`: prints the state of the list. */
export async function status({ maxSilence, html, json, ...options }: StatusOptions): Promise<void> {
  const list = parseListOption(options)
  const { found, problem } = await withStore(list, async (store) => {
    const found = await store.status()
    return { found, problem: await findProblem(store) }
  })
  const name = toListName(list)
  if (html !== undefined) {
    // Other uses of the command start faster without these.
    const { readSite } = await import('../config/config.ts')
    const { renderStatus } = await import('./status-html.tsx')
    await replaceFile(html, renderStatus(readSite().site, found, problem))
  } else {
    await (json ? printJson(toJson(name, found, problem)) : print(toText(name, found, problem)))
  }
  if (problem !== undefined) throw new Failure(problem)
  try {
    checkLatest(found.lastAcceptedAt)
  } catch (error) {
    throw error instanceof Failure ? new Failure(nameList(error.message, options)) : error
  }
  checkSilence(found, maxSilence)
}

/** Returns why the list cannot be written; undefined when it can. */
async function findProblem(store: SubscriberStore): Promise<string | undefined> {
  try {
    await store.ready()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** @throws Failure when no reader was accepted, or imported with such a date, for longer than `maxSilence` */
function checkSilence({ lastReaderAt }: StoreStatus, maxSilence: number | undefined): void {
  if (maxSilence === undefined) return
  if (!lastReaderAt) throw new Failure('no reader was ever accepted')
  if (Date.now() - lastReaderAt.getTime() <= maxSilence) return
  throw new Failure(`the last reader was accepted at ${lastReaderAt.toISOString()}`)
}

function toJson(list: string, found: StoreStatus, problem: string | undefined) {
  const { lastAcceptedAt, lastReaderAt: _, freeBytes, ...numbers } = found
  return {
    list,
    ...numbers,
    free_bytes: freeBytes,
    last_accepted_at: lastAcceptedAt,
    writable: problem === undefined,
    problem,
  }
}

/** All lines but the chart, the name of the list and a problem fit in 40 columns. */
function toText(list: string, found: StoreStatus, problem: string | undefined): string {
  const { subscribers, imported, reserved, suppressed, lastAcceptedAt, days, bytes, freeBytes } = found
  const period = (count: number) => [`${count} days`, `${toNumber(countRecent(days, count))} before today`]
  const free = freeBytes === undefined ? undefined : `${toNumber(Math.floor(freeBytes / 2 ** 20))} MiB`
  const rows = [
    ['list', list],
    ['size', `${toNumber(Math.ceil(bytes / 1024))} KiB`],
    // Of a PostgreSQL list, the free bytes are not known.
    ['free', free],
    ['writable', problem === undefined ? 'yes' : `no: ${problem}`],
    ['addresses', toNumber(subscribers)],
    ['imported', toNumber(imported)],
    ['reserved', toNumber(reserved)],
    ['suppressed', toNumber(suppressed)],
    ['accepted', lastAcceptedAt?.toISOString() ?? 'never'],
    ['today', toNumber(days.at(-1)?.added ?? 0)],
    ...[7, 30, 90].map(period),
  ]
  const lines = rows
    .filter(([, value]) => value !== undefined)
    .map(([name = '', value]) => `${name.padEnd(12)}${value}`)
  return [...lines, '', ...toChart(days.slice(1))].join('\n')
}

/** The parts of a bar, in eighths of its line. */
const BARS = ' ▁▂▃▄▅▆▇█'
const HIGHEST_BAR = BARS.length - 1

/** A bar for each of 90 days, which fits into a terminal of 100 columns. A day with an address has at least the smallest one. */
function toChart(days: StoreStatus['days']): string[] {
  const highest = Math.max(...days.map(({ added }) => added))
  // Without an address, every day has the empty bar.
  const toBar = (added: number) => BARS[Math.ceil((added / (highest || 1)) * HIGHEST_BAR)]
  const bars = days.map(({ added }) => toBar(added)).join('')
  return [bars.trimEnd(), `${days[0]?.date} to ${days.at(-1)?.date}, most on a day: ${toNumber(highest)}`]
}
