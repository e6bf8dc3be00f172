/** `rollcall import`: reads a file, and writes its rows to the list, in batches. */

import { stat } from 'node:fs/promises'
import { type ListUrl, toListName } from '../config/list-url.ts'
import type { Address } from '../email.ts'
import { escapeControls, Failure, UsageError } from '../failure.ts'
import { replaceFile } from '../files.ts'
import { createDryRun, type DryRun } from '../store/changes.ts'
import { openStore } from '../store/open.ts'
import { sortParts, toBatches } from '../store/pace.ts'
import { MissingListError, type SubscriberStore } from '../subscriber.ts'
import type { DateOrder } from '../transfer/reading/dates.ts'
import { type Plan, type PlanOptions, REJECTED_COLUMNS } from '../transfer/reading/plan.ts'
import { type ImportFile, type ReadRow, readRows } from '../transfer/reading/rows.ts'
import { parseTable } from '../transfer/reading/table.ts'
import { readText, toInputName } from '../transfer/reading/text.ts'
import { toCsvRow } from '../transfer/writing/formats.ts'
import { parseTreatments, settlePlan } from './import-questions.ts'
import { createProgress, note, print, printJson, toCount } from './output.ts'
import { checkSignal, type ListOption, parseListOption, withInterrupt } from './shared.ts'

export interface ImportOptions extends ListOption {
  readonly column?: string
  readonly dateColumn?: string
  readonly dateOrder?: DateOrder
  readonly statusColumn?: readonly string[]
  readonly ignoreColumn?: readonly string[]
  readonly treat?: readonly string[]
  readonly suppress?: true
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
  const { rejected, suppress, dryRun } = options
  if (rejected !== undefined && (await isSameFile(rejected, path))) {
    throw new UsageError('--rejected is the file that is imported')
  }
  const { statusColumn: statusColumns, ignoreColumn: ignoreColumns, ...rest } = options
  const treat = parseTreatments(options.treat)
  const encoding = parseEncoding(options.encoding)
  const planOptions: PlanOptions = { ...rest, treat, statusColumns, ignoreColumns }
  const table = parseTable(await readText(path, encoding), toInputName(path), options.column !== undefined)
  const canAsk = path !== '-' && process.stdin.isTTY && process.stderr.isTTY
  const plan = await settlePlan(table, planOptions, canAsk)
  const file = readRows(table, plan)

  // Before the list changes, because it may fail.
  if (rejected !== undefined && !dryRun) await writeRejected(rejected, file)
  noteFile(file, plan, options)
  if (file.rejected.length > 0 && file.subscribers.length + file.optOuts.length === 0) {
    throw new Failure('no row could be imported')
  }
  const { isNew, tally } = await withInterrupt((signal) => importFile(list, file, { suppress, dryRun, signal }))
  await printSummary({ ...tally, list, file, plan, isNew }, options)
}

/** Most rejected rows that are printed. */
const MAX_NOTES = 20

/** Prints which rows are rejected, and which `--treat` had no effect. */
function noteFile({ rejected }: ImportFile, { unusedTreatments }: Plan, options: ImportOptions): void {
  for (const value of unusedTreatments) note(escapeControls(`--treat: no row has the value ${JSON.stringify(value)}`))
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

/** Writes all rejected rows. Without any, writes only the header, so that no rows of an earlier import remain. */
async function writeRejected(path: string, { rejected }: ImportFile): Promise<void> {
  const rows = rejected.map(({ line, reason, address }) => toCsvRow([String(line), reason, address]))
  await replaceFile(path, toCsvRow(REJECTED_COLUMNS) + rows.join(''))
}

/** What the import did with the rows. */
interface Tally {
  readonly added: number
  /** Rows whose address was on the list or in an earlier row. */
  readonly alreadyListed: number
  /** Rows of subscribers who are not added, because their address is suppressed. */
  readonly leftOut: number
  /** Rows of people who left. Their addresses are suppressed now. */
  readonly suppressed: number
  /** How many of these were on the list. */
  readonly removed: number
  /** Rows of people who left and stay on the list: they subscribed later, or the date is unknown. */
  readonly kept: number
}

const countRows = ({ added, alreadyListed, leftOut, suppressed, kept }: Tally) =>
  added + alreadyListed + leftOut + suppressed + kept

interface WriteOptions {
  readonly suppress: true | undefined
  readonly dryRun: true | undefined
  readonly signal: AbortSignal
}

async function importFile(list: ListUrl, file: ImportFile, options: WriteOptions) {
  const existing = await openExisting(list)
  // Opens the list again: without `create`, it may be open for reading only.
  if (!options.dryRun) await existing?.close()
  const store = options.dryRun ? existing : await openStore(list, { notify: note })
  try {
    const tally = await writeFile(options.dryRun || !store ? createDryRun(store) : store, file, options)
    return { isNew: !existing, tally }
  } finally {
    await store?.close()
  }
}

/** Opens the list if there is one. @throws StoreError */
async function openExisting(list: ListUrl): Promise<SubscriberStore | undefined> {
  let store: SubscriberStore | undefined
  try {
    store = await openStore(list, { create: false, notify: note })
    // PostgreSQL finds out at the first call that there is no list.
    await store.head()
    return store
  } catch (error) {
    await store?.close()
    if (error instanceof MissingListError) return undefined
    throw error
  }
}

/** Writes people who left, then subscribers, so that nobody who left in any row is added by another one. */
async function writeFile(
  store: DryRun,
  { optOuts, subscribers }: ImportFile,
  { suppress, dryRun, signal }: WriteOptions,
): Promise<Tally> {
  const total = optOuts.length + subscribers.length
  const showProgress = createProgress('importing')
  const tally = { added: 0, alreadyListed: 0, leftOut: 0, suppressed: 0, removed: 0, kept: 0 }

  async function writeBatches<Row extends { readonly email: Address }>(
    rows: readonly Row[],
    write: (batch: readonly Row[]) => Promise<void>,
  ) {
    for await (const batch of toBatches(dryRun ? rows : sortParts(rows), store.pace)) {
      await checkSignal(signal)
      await write(batch)
      showProgress(countRows(tally), total)
    }
  }

  try {
    await writeBatches(optOuts, async (batch) => {
      const { added, removed, kept, alreadySuppressed } = await store.suppress(batch, {
        removeUndated: suppress ?? false,
      })
      tally.suppressed += added + removed + alreadySuppressed
      tally.removed += removed
      tally.kept += kept
    })
    await writeBatches(subscribers, async (batch) => {
      const { added, alreadyListed, leftOut } = await store.import(batch)
      tally.added += added
      tally.alreadyListed += alreadyListed
      tally.leftOut += leftOut
    })
    return tally
  } catch (error) {
    const done = countRows(tally)
    if (!dryRun && done > 0) {
      const rows = `${toCount(done, 'row')} of ${total.toLocaleString('en')}`
      note(`${rows} imported; import the same file again to continue: this is safe`)
    }
    throw error
  }
}

interface Summary extends Tally {
  readonly list: ListUrl
  readonly file: ImportFile
  readonly plan: Plan
  readonly isNew: boolean
}

async function printSummary(summary: Summary, { rejected, dryRun, json }: ImportOptions): Promise<void> {
  const { list, file, plan, isNew, added, alreadyListed, suppressed, removed, kept, leftOut } = summary
  const toNames = (indexes: readonly number[]) => indexes.flatMap((index) => plan.names[index] ?? [])
  const columns = {
    email: toNames([plan.address]),
    date: toNames(plan.dates),
    status: toNames(plan.statuses.map(({ index }) => index)),
    unread: toNames(plan.unread),
  }
  const samples = dryRun ? file.samples.map((row) => toSample(row, plan)) : []
  if (json) {
    return await printJson({
      list: toListName(list),
      created: isNew && !dryRun,
      added,
      already_listed: alreadyListed,
      suppressed,
      removed,
      kept,
      left_out: leftOut,
      skipped: file.skipped,
      rejected: file.rejected.length,
      rejected_file: (!dryRun && rejected) || null,
      columns,
      statuses: plan.values.map(({ column, value, status, rows }) => ({ column, value, status, rows })),
      samples,
    })
  }
  const created = dryRun ? ' (would be created)' : ' (created)'
  const lines = [
    `${dryRun ? 'dry run: ' : ''}${toCounts(summary)}`,
    `list: ${toListName(list)}${isNew ? created : ''}`,
    ...toColumnLines(columns, plan),
    ...plan.values.map(
      ({ column, value, status, rows }) => `${column}: ${value.slice(0, 60)}: ${toCount(rows, 'row')}, ${status}`,
    ),
    ...samples.map(toSampleLine),
  ]
  if (kept > 0 && file.optOuts.some(({ optedOutAt }) => !optedOutAt)) {
    note('some people left on an unknown date, and stay. To remove them, import a file of them with --suppress')
  }
  // A name of the file may have a line break.
  await print(lines.map(escapeControls).join('\n'))
}

/** The rows of the file: each is counted once. */
function toCounts({ added, alreadyListed, leftOut, suppressed, removed, kept, file }: Summary): string {
  const counts = [
    [added, 'added'],
    [alreadyListed, 'already listed'],
    [suppressed, `suppressed${removed > 0 ? ` (${removed.toLocaleString('en')} removed from the list)` : ''}`],
    [kept, 'left but kept (subscribed later, or the date is unknown)'],
    [file.skipped, 'skipped'],
    [leftOut, 'left out (suppressed before, or in another row)'],
    [file.rejected.length, 'rejected'],
  ] as const
  const shown = counts.filter(([count], index) => count > 0 || index < 2)
  return shown.map(([count, text]) => `${count.toLocaleString('en')} ${text}`).join(', ')
}

/** Which columns were read. A file with one address per line has none. */
function toColumnLines(
  { email, date, status, unread }: Readonly<Record<'email' | 'date' | 'status' | 'unread', readonly string[]>>,
  { possibleDates: [possible], suppress }: Plan,
): string[] {
  if (email.length === 0) return []
  const toNames = (names: readonly string[]) => names.map((name) => JSON.stringify(name)).join(', ') || 'none'
  const lines = [`address: ${toNames(email)}; date: ${toNames(date)}; status: ${toNames(status)}`]
  if (unread.length > 0) lines.push(`not read: ${toNames(unread)}`)
  if (date.length > 0 || suppress) return lines
  const name = JSON.stringify(possible)
  const advice = possible === undefined ? '' : `. ${name} looks like a date: --date-column ${name}`
  return [...lines, `no date: everybody gets the time of the import${advice}`]
}

/** A row that was read, with the cells that were read from it. */
function toSample({ status, line, date, cells }: ReadRow, { names, address, dates, statuses }: Plan) {
  const indexes = [address, ...dates, ...statuses.map(({ index }) => index)]
  const read = indexes.map((index) => [names[index] ?? 'address', cells[index] ?? ''] as const)
  return { status, line, date: date ?? null, cells: Object.fromEntries(read) }
}

/** Such as `line 2 is subscribed: "Email" ada@example.org, "Created" 31.5.2024; the date is 2024-05-31T00:00:00.000Z`. */
function toSampleLine({ line, status, date, cells }: ReturnType<typeof toSample>): string {
  const shown = Object.entries(cells).map(([column, cell]) => {
    return `${JSON.stringify(column)} ${cell.trim().slice(0, 60) || '(empty)'}`
  })
  return `line ${line} is ${status}: ${shown.join(', ')}${date ? `; the date is ${date.toISOString()}` : ''}`
}
