/** `rollcall import`: reads a list, and writes its rows to the store, in batches. */

import { stat } from 'node:fs/promises'
import { type ListUrl, toListName } from '../config/list-url.ts'
import { escapeControls, Failure, UsageError } from '../failure.ts'
import { openOutput } from '../files.ts'
import { createDryRun, type DryRun } from '../store/changes.ts'
import { openStore } from '../store/open.ts'
import { toBatches } from '../store/pace.ts'
import { MissingListError, type SubscriberStore } from '../subscriber.ts'
import type { DateOrder } from '../transfer/reading/dates.ts'
import { type List, REJECTED_COLUMNS, type ReadOptions, readList } from '../transfer/reading/read-list.ts'
import { toPlainValue } from '../transfer/reading/statuses.ts'
import { readText, toInputName } from '../transfer/reading/text.ts'
import { STATUSES, type Status } from '../transfer/reading/words.ts'
import { toCsvRow } from '../transfer/writing/formats.ts'
import { checkSignal, type ListOption, parseListOption, withInterrupt } from './list-command.ts'
import { createProgress, note, print, printJson, toCount } from './output.ts'

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

/** Parses `VALUE=STATUS`. @throws UsageError */
function parseTreatments(texts: readonly string[] = []): ReadonlyMap<string, Status> {
  return new Map(
    texts.map((text) => {
      const end = text.lastIndexOf('=')
      const status = STATUSES.find((name) => name === text.slice(end + 1))
      if (end < 0 || !status) throw new UsageError(`--treat is "${text}": use VALUE=${STATUSES.join(', VALUE=')}`)
      return [toPlainValue(text.slice(0, end)), status]
    }),
  )
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
export async function runImport(file: string, options: ImportOptions): Promise<void> {
  const url = parseListOption(options)
  const { rejected, suppress, dryRun } = options
  if (rejected !== undefined && (await isSameFile(rejected, file))) {
    throw new UsageError('--rejected is the file that is imported')
  }
  const { statusColumn: statusColumns, ignoreColumn: ignoreColumns, ...rest } = options
  const treat = parseTreatments(options.treat)
  const encoding = parseEncoding(options.encoding)
  const reading: ReadOptions = { ...rest, treat, statusColumns, ignoreColumns, name: toInputName(file) }
  const list = readList(await readText(file, encoding), reading)

  // Before the list changes, because it may fail.
  if (rejected !== undefined && !dryRun) await writeRejected(rejected, url, list)
  noteList(list, options)
  const { subscribers, optOuts } = list
  if (list.rejected.length > 0 && subscribers.length + optOuts.length === 0) {
    throw new Failure('no row could be imported')
  }
  const { isNew, tally } = await withInterrupt((signal) => importList(url, list, { suppress, dryRun, signal }))
  await printSummary({ ...tally, url, list, isNew }, options)
}

/** Most rejected rows that are printed. */
const MAX_NOTES = 20

/** Prints which rows are rejected, and which `--treat` had no effect. */
function noteList({ rejected, unusedTreatments }: List, { rejected: file, dryRun }: ImportOptions): void {
  for (const value of unusedTreatments) note(escapeControls(`--treat: no row has the value ${JSON.stringify(value)}`))
  for (const { line, reason } of rejected.slice(0, MAX_NOTES)) note(`line ${line}: ${reason}`)
  if (rejected.length > MAX_NOTES) note(`and ${toCount(rejected.length - MAX_NOTES, 'more rejected row')}`)
  if (rejected.length === 0) return
  const all = file === undefined ? '--rejected FILE writes them to a file' : dryRun ? undefined : `they are in ${file}`
  note(`rejected rows: ${all ? `${all}. ` : ''}Correct them and import the whole list again: this is safe`)
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((file) => stat(file).catch(() => undefined)))
  return a !== undefined && b !== undefined && a.isFile() && a.ino === b.ino && a.dev === b.dev
}

/** Writes all rejected rows. Without any, writes only the header, so that no rows of an earlier import remain. */
async function writeRejected(file: string, url: ListUrl, { rejected }: List): Promise<void> {
  const output = await openOutput(file, url)
  try {
    await output.write(toCsvRow(REJECTED_COLUMNS))
    const rows = rejected.map(({ line, reason, address }) => toCsvRow([String(line), reason, address]))
    await output.write(rows.join(''))
    await output.finish()
  } catch (error) {
    await output.discard()
    throw error
  }
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

async function importList(url: ListUrl, list: List, options: WriteOptions) {
  const existing = await openExisting(url)
  // Opens the list again: without `create`, it may be open for reading only.
  if (!options.dryRun) await existing?.close()
  const store = options.dryRun ? existing : await openStore(url, { notify: note })
  try {
    const tally = await writeList(options.dryRun || !store ? createDryRun(store) : store, list, options)
    return { isNew: !existing, tally }
  } finally {
    await store?.close()
  }
}

/** Opens the list if there is one. @throws StoreError */
async function openExisting(url: ListUrl): Promise<SubscriberStore | undefined> {
  let store: SubscriberStore | undefined
  try {
    store = await openStore(url, { create: false, notify: note })
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
async function writeList(
  store: DryRun,
  { optOuts, subscribers }: List,
  { suppress, dryRun, signal }: WriteOptions,
): Promise<Tally> {
  const total = optOuts.length + subscribers.length
  const progress = createProgress('importing')
  const tally = { added: 0, alreadyListed: 0, leftOut: 0, suppressed: 0, removed: 0, kept: 0 }

  async function writeBatches<Row>(rows: readonly Row[], write: (batch: readonly Row[]) => Promise<void>) {
    for await (const batch of toBatches(rows, store.pace)) {
      await checkSignal(signal)
      await write(batch)
      progress.update(countRows(tally), total)
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
  } finally {
    progress.stop()
  }
}

interface Summary extends Tally {
  readonly url: ListUrl
  readonly list: List
  readonly isNew: boolean
}

async function printSummary(summary: Summary, { rejected, dryRun, json }: ImportOptions): Promise<void> {
  const { url, list, isNew, alreadyListed, leftOut, suppressed, removed, kept, added } = summary
  const { columns, statuses, skipped } = list
  if (json) {
    return await printJson({
      list: toListName(url),
      created: isNew && !dryRun,
      added,
      already_listed: alreadyListed,
      suppressed,
      removed,
      kept,
      left_out: leftOut,
      skipped,
      rejected: list.rejected.length,
      rejected_file: (!dryRun && rejected) || null,
      columns,
      statuses,
    })
  }
  const created = dryRun ? ' (would be created)' : ' (created)'
  const lines = [
    `${dryRun ? 'dry run: ' : ''}${toCounts(summary)}`,
    `list: ${toListName(url)}${isNew ? created : ''}`,
    ...toColumnLines(columns),
    ...statuses.map(
      ({ column, value, status, rows }) => `${column}: ${value.slice(0, 60)}: ${toCount(rows, 'row')}, ${status}`,
    ),
  ]
  // A name of the file may have a line break.
  await print(lines.map(escapeControls).join('\n'))
}

/** The rows of the file: each is counted once. */
function toCounts({ added, alreadyListed, leftOut, suppressed, removed, kept, list }: Summary): string {
  const others = [
    [suppressed, `suppressed${removed > 0 ? ` (${removed.toLocaleString('en')} removed from the list)` : ''}`],
    [kept, 'left but kept (subscribed later, or the date is unknown)'],
    [list.skipped, 'skipped'],
    [leftOut, 'left out (suppressed before, or in another row)'],
    [list.rejected.length, 'rejected'],
  ] as const
  const counts = [
    [added, 'added'] as const,
    [alreadyListed, 'already listed'] as const,
    ...others.filter(([count]) => count > 0),
  ]
  return counts.map(([count, text]) => `${count.toLocaleString('en')} ${text}`).join(', ')
}

/** Which columns were read. A file with one address per line has none. */
function toColumnLines({ email, date, status, unread }: List['columns']): string[] {
  if (email.length === 0) return []
  const toNames = (names: readonly string[]) => names.map((name) => JSON.stringify(name)).join(', ') || 'none'
  const unused = unread.length > 0 ? [`not read: ${toNames(unread)}`] : []
  return [`address: ${toNames(email)}; date: ${toNames(date)}; status: ${toNames(status)}`, ...unused]
}
