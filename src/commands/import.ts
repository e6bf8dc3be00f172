/** `rollcall import`: reads a file, and writes its rows to the list, in batches. */

import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type ListUrl, toListName } from '../config/list-url.ts'
import { escapeControls, Failure, UsageError } from '../failure.ts'
import { followLinks, replaceFile } from '../files.ts'
import { countImport } from '../store/batches.ts'
import { openStore } from '../store/open.ts'
import { type ImportTally, MissingListError, type OptOutTally, type SubscriberStore } from '../subscriber.ts'
import { type Plan, type PlanOptions, REJECTED_COLUMNS } from '../transfer/reading/plan.ts'
import { type ImportFile, readRows } from '../transfer/reading/rows.ts'
import { parseTable } from '../transfer/reading/table.ts'
import { readText, toInputName } from '../transfer/reading/text.ts'
import { toCsvRow } from '../transfer/writing/formats.ts'
import { parseTreatments, settlePlan } from './import-questions.ts'
import { createProgress, note, print, printJson, toCount } from './output.ts'
import { type ListOption, parseListOption, withInterrupt, withStore } from './shared.ts'

export interface ImportOptions extends ListOption, Omit<PlanOptions, 'treat'> {
  readonly treat?: readonly string[]
  readonly encoding?: string
  readonly rejected?: string
  readonly dryRun?: true
  readonly json?: true
}

/** Parses a label of the Encoding standard. @throws UsageError */
function parseEncoding(label: string | undefined): string | undefined {
  try {
    return label === undefined ? undefined : new TextDecoder(label as Bun.Encoding).encoding
  } catch {
    throw new UsageError(`--encoding is "${label}": use a label of the Encoding standard, such as windows-1252`)
  }
}

/** `rollcall import`: adds the addresses in a file to the list. */
export async function runImport(path: string, options: ImportOptions): Promise<void> {
  const list = parseListOption(options)
  const { rejected, suppress = false, dryRun = false } = options
  if (rejected !== undefined && (await isSameFile(rejected, path))) {
    throw new UsageError('--rejected is the file that is imported')
  }
  // Also a list that does not exist yet.
  if (
    list.kind === 'sqlite' &&
    rejected !== undefined &&
    followLinks(resolve(rejected)) === followLinks(resolve(list.file))
  ) {
    throw new UsageError('--rejected is the list')
  }
  const planOptions = { ...options, treat: parseTreatments(options.treat) }
  const encoding = parseEncoding(options.encoding)
  const table = parseTable(await readText(path, encoding), toInputName(path), options.column !== undefined)
  const canAsk = path !== '-' && process.stdin.isTTY && process.stderr.isTTY
  const plan = await settlePlan(table, planOptions, canAsk)
  const file = readRows(table, plan)

  // Before the list changes, because it may fail. Without any row, so that none of an earlier import remains.
  if (rejected !== undefined && !dryRun) {
    const rows = file.rejected.map(({ line, reason, address }) => [String(line), reason, address])
    await replaceFile(rejected, [REJECTED_COLUMNS, ...rows].map(toCsvRow).join(''))
  }
  noteFile(file, plan, options)
  if (file.rejected.length > 0 && file.subscribers.length + file.optOuts.length === 0) {
    throw new Failure('no row could be imported')
  }
  let isNew = false
  const tally = await withInterrupt(async (signal) => {
    isNew = await isMissing(list)
    const options = { removeUndated: suppress, signal }
    if (!dryRun) return await withStore(list, (store) => importRows(file, store, options), { access: 'create' })
    const count = (store?: SubscriberStore) => countImport(store, file, options)
    return toTally(isNew ? await count() : await withStore(list, count))
  })
  const outcome = { list: toListName(list), created: isNew && !dryRun, ...tally }
  const summary = { ...outcome, ...toSummary(file, plan, options) }
  if (options.json) return await printJson(summary)
  if (tally.kept > 0 && file.optOuts.some(({ optedOutAt }) => !optedOutAt)) {
    note('some people left on an unknown date, and stay. To remove them, import a file of them with --suppress')
  }
  const created = dryRun ? ' (would be created)' : ' (created)'
  const lines = [
    `${dryRun ? 'dry run: ' : ''}${toCounts(summary)}`,
    `list: ${summary.list}${isNew ? created : ''}`,
    ...toLines(summary, plan),
  ]
  // A name of the file may have a line break.
  await print(lines.map(escapeControls).join('\n'))
}

/** Most rejected rows that are printed. */
const MAX_NOTES = 20

/** Prints which rows are rejected, and which `--treat` had no effect. */
function noteFile({ rejected }: ImportFile, { unusedTreatments }: Plan, options: ImportOptions): void {
  for (const value of unusedTreatments) note(`--treat: no row has the value ${JSON.stringify(value)}`)
  for (const { line, reason } of rejected.slice(0, MAX_NOTES)) note(`line ${line}: ${reason}`)
  if (rejected.length > MAX_NOTES) note(`and ${toCount(rejected.length - MAX_NOTES, 'more rejected row')}`)
  if (rejected.length === 0) return
  const { rejected: path, dryRun } = options
  const all = path === undefined ? '--rejected FILE writes them to a file' : dryRun ? undefined : `they are in ${path}`
  note(`rejected rows: ${all ? `${all}. ` : ''}Correct them and import the whole file again: this is safe`)
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((file) => stat(file).catch(() => undefined)))
  return a !== undefined && b !== undefined && a.isFile() && a.ino === b.ino && a.dev === b.dev
}

/** Whether there is no list yet. @throws StoreError */
async function isMissing(list: ListUrl): Promise<boolean> {
  try {
    const store = await openStore(list, { access: 'read' })
    // PostgreSQL finds out at the first call that there is no list.
    await store.head().finally(() => store.close())
    return false
  } catch (error) {
    if (error instanceof MissingListError) return true
    throw error
  }
}

/** What an import did with the rows, as `--json` prints it. docs/import.md says what each number counts. */
type Tally = Record<'added' | 'already_listed' | 'suppressed' | 'removed' | 'kept' | 'left_out', number>

const toTally = ({ added, alreadyListed, suppressed, removed, kept, leftOut }: OptOutTally & ImportTally): Tally => ({
  added,
  already_listed: alreadyListed,
  suppressed,
  removed,
  kept,
  left_out: leftOut,
})

/** Writes people who left, then subscribers, so that nobody who left in any row is added by another one. */
async function importRows(
  { optOuts, subscribers }: ImportFile,
  store: SubscriberStore,
  { removeUndated, signal }: { removeUndated: boolean; signal: AbortSignal },
): Promise<Tally> {
  const total = optOuts.length + subscribers.length
  const showProgress = createProgress('importing')
  let done = 0
  const follow = (before: number) => ({
    signal,
    onProgress(rows: number) {
      done = before + rows
      showProgress(done, total)
    },
  })
  try {
    const left = await store.suppress(optOuts, { removeUndated, ...follow(0) })
    return toTally({ ...left, ...(await store.import(subscribers, follow(optOuts.length))) })
  } catch (error) {
    if (done > 0) {
      const rows = `${toCount(done, 'row')} of ${total.toLocaleString('en')}`
      note(`${rows} imported; import the same file again to continue: this is safe`)
    }
    throw error
  }
}

/** What was read, as `--json` prints it. */
function toSummary(file: ImportFile, plan: Plan, { rejected, dryRun }: ImportOptions) {
  const { names, address, dates, unread } = plan
  const statuses = plan.statuses.map(({ index }) => index)
  const toNames = (indexes: readonly number[]) => indexes.flatMap((index) => names[index] ?? [])
  const samples = file.samples.map(({ status, line, date = null, cells }) => {
    const read = [address, ...dates, ...statuses].map(
      (index) => [names[index] ?? 'address', cells[index] ?? ''] as const,
    )
    return { status, line, date, cells: Object.fromEntries(read) }
  })
  return {
    skipped: file.skipped,
    rejected: file.rejected.length,
    rejected_file: (!dryRun && rejected) || null,
    columns: { email: toNames([address]), date: toNames(dates), status: toNames(statuses), unread: toNames(unread) },
    statuses: plan.values.map(({ column, value, status, rows }) => ({ column, value, status, rows })),
    samples: dryRun ? samples : [],
  }
}

type Summary = ReturnType<typeof toSummary>

/** The rows of the file: each is counted once. */
function toCounts(summary: Tally & Summary): string {
  const { added, already_listed, suppressed, removed, kept, skipped, left_out, rejected } = summary
  const counts = [
    [added, 'added'],
    [already_listed, 'already listed'],
    [suppressed, `suppressed${removed > 0 ? ` (${removed.toLocaleString('en')} removed from the list)` : ''}`],
    [kept, 'left but kept (subscribed later, or the date is unknown)'],
    [skipped, 'skipped'],
    [left_out, 'left out (suppressed before, or in another row)'],
    [rejected, 'rejected'],
  ] as const
  const shown = counts.filter(([count], index) => count > 0 || index < 2)
  return shown.map(([count, text]) => `${count.toLocaleString('en')} ${text}`).join(', ')
}

/** Says what was read: the columns, of which a file with one address per line has none, the statuses, and the samples. */
function toLines({ columns, statuses, samples }: Summary, { possibleDates: [possible], suppress }: Plan): string[] {
  const { email, date, status, unread } = columns
  const toNames = (names: readonly string[]) => names.map((name) => JSON.stringify(name)).join(', ') || 'none'
  const name = JSON.stringify(possible)
  const advice = possible === undefined ? '' : `. ${name} looks like a date: --date-column ${name}`
  const columnLines = [
    `address: ${toNames(email)}; date: ${toNames(date)}; status: ${toNames(status)}`,
    ...(unread.length > 0 ? [`not read: ${toNames(unread)}`] : []),
    ...(date.length > 0 || suppress ? [] : [`no date: everybody gets the time of the import${advice}`]),
  ]
  const toShown = (text: string) => text.trim().slice(0, MAX_TEXT)
  return [
    ...(email.length > 0 ? columnLines : []),
    ...statuses.map(({ column, value, status, rows }) => {
      return `${column}: ${toShown(value)}: ${toCount(rows, 'row')}, ${status}`
    }),
    ...samples.map(({ line, status, date, cells }) => {
      const read = Object.entries(cells).map(([name, cell]) => `${JSON.stringify(name)} ${toShown(cell) || '(empty)'}`)
      return `line ${line} is ${status}: ${read.join(', ')}${date ? `; the date is ${date.toISOString()}` : ''}`
    }),
  ]
}

/** Most characters of a cell that are printed. */
const MAX_TEXT = 60
