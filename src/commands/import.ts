/** `rollcall import`: shows what it is going to do with a file, asks, and writes its rows to the list. */

import { type ListUrl, toListName } from '../config/list-url.ts'
import { escapeControls, Failure, toCount, toNumber, UsageError } from '../failure.ts'
import { followLinks, replaceFile } from '../files.ts'
import { countImport } from '../store/batches.ts'
import { openStore } from '../store/open.ts'
import {
  type ImportTally,
  MissingListError,
  type OptOut,
  type OptOutRule,
  type OptOutTally,
  type SubscriberStore,
} from '../subscriber.ts'
import { type CursorFile, checkCursor, openCursorFile, readCursor } from '../transfer/cursor-file.ts'
import { type Column, REJECTED_COLUMNS, type ReadOptions } from '../transfer/reading/columns.ts'
import type { Table } from '../transfer/reading/csv.ts'
import { findDoubts, toReviewLines } from '../transfer/reading/review.ts'
import { type Reading, readRows } from '../transfer/reading/rows.ts'

import { parseTable } from '../transfer/reading/table.ts'
import { readText, toInputName } from '../transfer/reading/text.ts'
import { toCsvRow } from '../transfer/writing/formats.ts'
import { askMeanings, askToImport, explainDoubts, explainUnknown, parseTreatments } from './import-questions.ts'
import { createProgress, note, print, printJson } from './output.ts'
import { parseListOption, type VerbOptions, withInterrupt, withStore } from './shared.ts'

interface ImportOptions extends VerbOptions, Omit<ReadOptions, 'treat'> {
  readonly treat?: readonly string[]
  readonly encoding?: string
  readonly rejected?: string
  readonly cursorFile?: string
  readonly dryRun?: true
  readonly yes?: true
}

/** Checks that the file of rejected rows replaces neither the import nor the list. @throws UsageError */
function checkRejected(rejected: string, path: string, list: ListUrl): void {
  const isRejected = (file: string) => followLinks(file) === followLinks(rejected)
  if (isRejected(path)) throw new UsageError('--rejected is the file that is imported')
  // Also a list that does not exist yet.
  if (list.kind === 'sqlite' && isRejected(list.file)) throw new UsageError('--rejected is the list')
}

/** Opens the cursor file of the hand-over to the tool in which people left. No export uses it meanwhile. @throws Failure */
async function openHandOver(file: string): Promise<CursorFile> {
  if (!readCursor(file)) throw new Failure(`${file}: there is no such file: nobody was handed over with it`)
  return await openCursorFile(file)
}

/** `rollcall import`: adds the addresses in a file to the list. */
export async function runImport(path: string, options: ImportOptions): Promise<void> {
  const list = parseListOption(options)
  const { rejected, dryRun = false, yes = false } = options
  if (rejected !== undefined) checkRejected(rejected, path, list)
  using cursorFile = options.cursorFile === undefined ? undefined : await openHandOver(options.cursorFile)
  const text = await readText(path, options.encoding)
  const table = parseTable(text, toInputName(path), options.column !== undefined)
  const canAsk = path !== '-' && process.stdin.isTTY && process.stderr.isTTY
  const reading = await read(table, { ...options, treat: parseTreatments(options.treat) }, canAsk)
  const review = toReviewLines(reading)
  const { rows } = reading
  const isUsable = rows.added + rows.left + rows.skipped > 0
  // The output of a dry run has the review, and that of --json the same facts.
  const isInOutput = isUsable && (dryRun || (options.json && !canAsk))
  if (!isInOutput) note(review.join('\n'))
  if (rows.all === rows.empty) throw new Failure(`${table.file}: there is no row`)
  const isDoubtful = findDoubts(reading).length > 0
  const name = toListName(list)
  /** The file of rejected rows, once it is written. */
  let written: string | undefined
  const printFacts = async (created: boolean, { alreadyListed, leftOut, ...tally }: Tally) => {
    const did = { created, ...tally, already_listed: alreadyListed, left_out: leftOut }
    await printJson({ list: name, ...did, ...toFacts(reading, written) })
  }
  const mustAsk = !dryRun && !yes && isUsable
  if (mustAsk && canAsk) await askToImport(isDoubtful)
  else if (mustAsk && isDoubtful) {
    if (options.json) await printFacts(false, NOTHING)
    throw explainDoubts()
  }
  // Before the list changes, because it may fail. Also when no row was rejected: those of an earlier import must not stay.
  if (rejected !== undefined && !dryRun) {
    const lines = reading.rejected.map(({ line, reason, cell }) => [String(line), reason, cell])
    await replaceFile(rejected, [REJECTED_COLUMNS, ...lines].map(toCsvRow).join(''))
    written = rejected
  }
  if (!isUsable) throw new Failure('no row could be imported')
  let isNew = false
  const tally = await withInterrupt(async (signal) => {
    const rule = { removeUndated: options.suppress ?? false, upTo: cursorFile?.cursor.seq }
    // Nobody of a list that is not there was handed over.
    if (cursorFile) await withStore(list, async (store) => checkCursor(await store.head(), cursorFile.cursor))
    isNew = await isMissing(list)
    if (!dryRun) return await withStore(list, (store) => importRows(reading, store, { ...rule, signal }), 'create')
    const count = (store?: SubscriberStore) => countImport(store, reading, { ...rule, signal })
    return isNew ? await count() : await withStore(list, count)
  })
  if (options.json) return await printFacts(isNew && !dryRun, tally)
  const place = `list: ${name}${isNew ? ` (${dryRun ? 'would be ' : ''}created)` : ''}`
  const reason = cursorFile ? 'not handed over yet' : 'subscribed later, or the date is unknown'
  const lines = [`${dryRun ? 'dry run: ' : ''}${describeTally(tally, reading, reason)}`, place]
  // A name of the file may have a line break.
  await print([...(dryRun ? review : []), ...lines].map(escapeControls).join('\n'))
  if (!dryRun) noteUndo(tally, { list, hasUndated: !cursorFile && reading.optOuts.some(isUndated) })
}

/** Reads a table. A person is asked what unknown values mean. @throws Failure when nobody says so */
async function read(table: Table, options: ReadOptions, canAsk: boolean): Promise<Reading> {
  const reading = readRows(table, options)
  const unknown = [...reading.values].filter(({ status }) => !status)
  if (unknown.length === 0) return reading
  if (!canAsk) throw explainUnknown(unknown, table)
  const treat = new Map([...(options.treat ?? []), ...(await askMeanings(unknown))])
  return await read(table, { ...options, treat }, canAsk)
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

/** What an import did with the addresses. docs/import.md says what each number counts. */
type Tally = OptOutTally & ImportTally

const NOTHING: Tally = { added: 0, alreadyListed: 0, suppressed: 0, removed: 0, kept: 0, leftOut: 0 }

/** Writes people who left, then subscribers, so that nobody who left in any row is added by another one. */
async function importRows(
  { optOuts, subscribers }: Reading,
  store: SubscriberStore,
  { signal, ...rule }: OptOutRule & { readonly signal: AbortSignal },
): Promise<Tally> {
  const total = optOuts.length + subscribers.length
  const showProgress = createProgress('importing', 'rows')
  let done = 0
  const follow = (before: number) => (rows: number) => {
    done = before + rows
    showProgress(done, total)
  }
  try {
    const left = await store.suppress(optOuts, { ...rule, signal, onProgress: follow(0) })
    return { ...left, ...(await store.import(subscribers, { signal, onProgress: follow(optOuts.length) })) }
  } catch (error) {
    const part = `${toCount(done, 'address', 'addresses')} of ${toNumber(total)} imported`
    if (done > 0) note(`${part}; import the same file again to continue: nobody is added twice`)
    throw error
  }
}

const isUndated = ({ optedOutAt }: OptOut) => !optedOutAt

/** Says how to take an import back. @param options.hasUndated whether people stay because nobody knows when they left */
function noteUndo(
  { added, suppressed, kept }: Tally,
  { list, hasUndated }: { readonly list: ListUrl; readonly hasUndated: boolean },
): void {
  if (kept > 0 && hasUndated) {
    note('some people left on an unknown date, and stay. To remove them, import a file of them with --suppress')
  }
  if (suppressed > 0) {
    note('to give people back who were suppressed by mistake: rollcall remove --forget ADDRESS, and import them again')
  }
  const restore = list.kind === 'sqlite' ? 'rollcall restore FILE' : 'your tools for PostgreSQL'
  if (added + suppressed > 0) note(`the import made no backup. If you have one, ${restore} takes everything back`)
}

/** Most rejected rows that `--json` prints. */
const MAX_REJECTED = 20

/** What was read, as `--json` prints it. @param written the file of rejected rows; undefined when none was written */
function toFacts(reading: Reading, written: string | undefined) {
  const { table, rows, columns, dates, values } = reading
  // A file without columns has one, which has no name.
  const toNames = (found: readonly Column[]) => (table.names ? found.map(({ name }) => name) : [])
  return {
    rows: rows.all,
    skipped: rows.skipped,
    rejected: rows.rejected,
    empty: rows.empty,
    rejected_rows: reading.rejected.slice(0, MAX_REJECTED),
    rejected_file: written,
    columns: {
      email: toNames([columns.address]),
      date: toNames(columns.dates),
      status: toNames(columns.statuses.map(({ column }) => column)),
      unread: toNames(columns.unread),
    },
    dates: dates ? { first: dates.first, last: dates.last } : null,
    statuses: [...values].map(({ column, value, status, rows }) => ({ column, value: value || 'empty', status, rows })),
    doubts: findDoubts(reading),
  }
}

/** What an import did: addresses, and rows that are not addresses. @param reason why people who left were kept */
function describeTally(tally: Tally, { rows }: Reading, reason: string): string {
  const removed = tally.removed > 0 ? ` (${toNumber(tally.removed)} removed from the list)` : ''
  const counts = [
    [tally.added, 'added'],
    [tally.alreadyListed, 'already listed'],
    [tally.suppressed, `suppressed${removed}`],
    [tally.kept, `left but kept (${reason})`],
    [rows.skipped, 'skipped'],
    [tally.leftOut, 'left out (suppressed before, or in another row)'],
    [rows.rejected, 'rejected'],
  ] as const
  const shown = counts.filter(([count], index) => count > 0 || index < 2)
  return shown.map(([count, text]) => `${toNumber(count)} ${text}`).join(', ')
}
