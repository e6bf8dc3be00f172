/** `rollcall import`: shows what it is going to do with a file, asks, and writes its rows to the list. */

import { fstatSync, statSync } from 'node:fs'
import { type ListUrl, toListName } from '../config/list-url.ts'
import { escapeControls, Failure, UsageError } from '../failure.ts'
import { followLinks, replaceFile } from '../files.ts'
import { countImport } from '../store/batches.ts'
import { openStore } from '../store/open.ts'
import {
  type ImportTally,
  MissingListError,
  type OptOutRule,
  type OptOutTally,
  type SubscriberStore,
} from '../subscriber.ts'
import { type CursorFile, checkCursor, openCursorFile, readCursor } from '../transfer/cursor-file.ts'
import type { Table } from '../transfer/reading/csv.ts'
import { type Effect, toEffect } from '../transfer/reading/effect.ts'
import { REJECTED_COLUMNS, type ReadOptions } from '../transfer/reading/layout.ts'
import {
  createReview,
  describeTally,
  type Review,
  toReviewJson,
  toReviewLines,
  toTallyJson,
} from '../transfer/reading/review.ts'
import { type Rows, readRows } from '../transfer/reading/rows.ts'
import { parseTable } from '../transfer/reading/table.ts'
import { readText, toInputName } from '../transfer/reading/text.ts'
import { toCsvRow } from '../transfer/writing/formats.ts'
import { toCount, toNumber } from '../words.ts'
import {
  askMeanings,
  askToImport,
  explainDoubts,
  explainUnknown,
  parseAccepted,
  parseTreatments,
} from './import-questions.ts'
import { createProgress, note, print, printJson } from './output.ts'
import { nameList, parseListOption, type VerbOptions, withInterrupt, withStore } from './shared.ts'

interface ImportOptions extends VerbOptions, Omit<ReadOptions, 'treat' | 'accept'> {
  readonly treat?: readonly string[]
  readonly accept?: readonly string[]
  readonly encoding?: string
  readonly cursorFile?: string
  readonly dryRun?: true
  readonly yes?: true
}

/** Checks that the file of rejected rows replaces no file that the import reads, and not the list. @throws UsageError */
function checkRejected(rejected: string, path: string, list: ListUrl, cursorFile: string | undefined): void {
  const isRejected = (file: string) => followLinks(file) === followLinks(rejected)
  if (path === '-' ? isStandardInput(rejected) : isRejected(path)) {
    throw new UsageError('--rejected is the file that is imported')
  }
  if (cursorFile !== undefined && isRejected(cursorFile)) throw new UsageError('--rejected is the cursor file')
  // Also a list that does not exist yet.
  if (list.kind === 'sqlite' && isRejected(list.file)) throw new UsageError('--rejected is the list')
}

/** Whether a file is standard input, as with `rollcall import - < FILE`. */
function isStandardInput(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false })
  const input = fstatSync(0)
  return input.isFile() && found?.dev === input.dev && found.ino === input.ino
}

/** Opens the cursor file of the hand-over to the tool in which people left. No export uses it meanwhile. @throws Failure */
async function openHandOver(file: string): Promise<CursorFile> {
  if (!readCursor(file)) throw new Failure(`${file}: there is no such file: nobody was handed over with it`)
  return await openCursorFile(file)
}

/** What comes after the review: the question, the import, the end of a dry run, or a command to repeat. */
type Decision = 'ask' | 'write' | 'count' | 'stop'

function decide({ doubts }: Review, { dryRun, yes }: ImportOptions, canAsk: boolean): Decision {
  if (dryRun) return 'count'
  if (yes) return 'write'
  if (canAsk) return 'ask'
  return doubts.length > 0 ? 'stop' : 'write'
}

/** `rollcall import`: adds the people in a file to the list, and suppresses those who left. */
export async function runImport(path: string, options: ImportOptions): Promise<void> {
  const list = parseListOption(options)
  const { rejected, json } = options
  if (rejected !== undefined) checkRejected(rejected, path, list, options.cursorFile)
  using cursorFile = options.cursorFile === undefined ? undefined : await openHandOver(options.cursorFile)
  const text = await readText(path, options.encoding)
  const table = parseTable(text, toInputName(path), options.column !== undefined)
  const canAsk = path !== '-' && (process.stdin.isTTY && process.stderr.isTTY) === true
  const answers = { treat: parseTreatments(options.treat), accept: parseAccepted(options.accept) }
  const rows = await read(table, { ...options, ...answers }, canAsk)
  if (!isUsable(rows)) return await refuse(rows, options)
  const rule = toRule(options, cursorFile)
  const { effect, isNew } = await withInterrupt((signal) => count(rows, { list, cursorFile, ...rule, signal }))
  const review = createReview(rows, effect)
  const decision = decide(review, options, canAsk)
  const plan: Plan = { list, isNew, effect, review, options }
  // The output of a dry run has the review, and that of --json the same facts. A person who is asked must see it before the question.
  const isReviewInOutput = decision === 'count' || (json && !canAsk)
  if (!isReviewInOutput) note(toReviewLines(review).join('\n'))
  if (decision === 'stop') return await stop(plan)
  if (decision === 'count') return await printDryRun(plan)
  if (decision === 'ask') await askToImport(review.doubts.length > 0)
  // Before the list changes, because it may fail.
  if (rejected !== undefined) await writeRejected(rejected, rows, effect)
  const tally = await withInterrupt((signal) =>
    withStore(list, (store) => importRows(rows, effect, { ...rule, store, signal }), 'create'),
  )
  await printImport(plan, tally)
}

/** What an import is going to do, and to which list. */
interface Plan {
  readonly list: ListUrl
  /** Whether there is no list yet. */
  readonly isNew: boolean
  readonly effect: Effect
  readonly review: Review
  readonly options: ImportOptions
}

/** Ends an import with a doubt that nobody answers. @throws Failure always */
async function stop(plan: Plan): Promise<never> {
  if (plan.options.json) await printFacts(plan, { created: false, tally: NOTHING })
  throw explainDoubts()
}

/** Prints what an import would do. Nothing is written, so no list is created, and no file of rejected rows. */
async function printDryRun(plan: Plan): Promise<void> {
  const { list, isNew, effect, review, options } = plan
  if (options.json) return await printFacts(plan, { created: false, tally: effect })
  const lines = [
    ...toReviewLines(review),
    `dry run: ${describeTally(effect, review)}`,
    `list: ${toListName(list)}${isNew ? ' (would be created)' : ''}`,
  ]
  // A name of the file may have a line break.
  await print(lines.map(escapeControls).join('\n'))
}

/** Prints what an import did. */
async function printImport(plan: Plan, tally: Tally): Promise<void> {
  const { list, isNew, review, options } = plan
  if (options.json) return await printFacts(plan, { created: isNew, tally, rejected: options.rejected })
  const name = escapeControls(toListName(list))
  await print(`${describeTally(tally, review)}\nlist: ${name}${isNew ? ' (created)' : ''}`)
  noteUndo(tally, list, options)
}

/** What has happened, for a program. */
interface Facts {
  /** Whether the list was created. */
  readonly created: boolean
  readonly tally: Tally
  /** The file of rejected rows, if it was written. */
  readonly rejected?: string | undefined
}

/** Prints what --json promises. */
async function printFacts({ list, review }: Plan, { created, tally, rejected }: Facts): Promise<void> {
  await printJson({ list: toListName(list), created, ...toTallyJson(tally), ...toReviewJson(review, rejected) })
}

/** Which opt-outs remove subscribers. */
function toRule({ suppress = false, undated }: ImportOptions, cursorFile: CursorFile | undefined): OptOutRule {
  const removeUndated = undated === undefined ? suppress : undated === 'remove'
  return { removeUndated, upTo: cursorFile?.cursor.seq }
}

/** Whether there is a row that an import does something with, or has a reason to skip. */
const isUsable = ({ counts }: Rows) => counts.subscribed + counts.suppressed + counts.skip > 0

/** Ends an import without a row that could be imported. @throws Failure always */
async function refuse(rows: Rows, { rejected, dryRun }: ImportOptions): Promise<never> {
  note(toReviewLines(createReview(rows, undefined)).join('\n'))
  if (rows.counts.all === rows.counts.empty) throw new Failure(`${rows.table.file}: there is no row`)
  if (rejected !== undefined && !dryRun) await writeRejected(rejected, rows)
  throw new Failure('no row could be imported')
}

/** Writes the rows that are rejected or left out, and why. Also when there is none: those of an earlier import must not stay. */
async function writeRejected(file: string, { rejected }: Rows, effect?: Effect): Promise<void> {
  const found = [...rejected, ...(effect?.leftOutRows ?? [])].toSorted((one, other) => one.line - other.line)
  const lines = found.map(({ line, reason, cell }) => [String(line), reason, cell])
  await replaceFile(file, [REJECTED_COLUMNS, ...lines].map(toCsvRow).join(''))
}

interface CountOptions extends OptOutRule {
  readonly list: ListUrl
  readonly cursorFile: CursorFile | undefined
  readonly signal: AbortSignal
}

/** Counts what an import would do to the list. One that does not exist yet is empty. */
async function count(
  rows: Rows,
  { list, cursorFile, ...options }: CountOptions,
): Promise<{ readonly effect: Effect; readonly isNew: boolean }> {
  const total = rows.optOuts.length + rows.subscribers.length + rows.skipped.length
  const showProgress = createProgress('counting', 'rows')
  const onProgress = (done: number) => showProgress(done, total)
  const countIn = async (store?: SubscriberStore) => {
    // Nobody of another list was handed over.
    if (store && cursorFile) checkCursor(await store.head(), cursorFile.cursor)
    return await countImport(store, rows, { ...options, onProgress })
  }
  // With a cursor, a missing list is an error, and no new list: nobody of it can have been handed over.
  const isNew = !cursorFile && (await isMissing(list))
  const counted = isNew ? await countIn() : await withStore(list, countIn)
  return { effect: toEffect(rows, counted, cursorFile !== undefined), isNew }
}

/** Reads a table. A person is asked what unknown values mean. @throws Failure when nobody says so */
async function read(table: Table, options: ReadOptions, canAsk: boolean): Promise<Rows> {
  const rows = readRows(table, options)
  const unknown = rows.values.filter(({ status }) => !status)
  if (unknown.length === 0) return rows
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

/**
 * Writes people who left, then subscribers, so that nobody who left in any row is added by another one. Subscribers whom the count
 * found on the list, or suppressed, are not looked up again. So when the same file is imported once more, the count is the only look-up of
 * most people. Only people who left, and those who are added, are looked up twice.
 */
async function importRows(
  { optOuts }: Rows,
  { toAdd, alreadyListed, leftOut }: Effect,
  { store, signal, ...rule }: OptOutRule & { readonly store: SubscriberStore; readonly signal: AbortSignal },
): Promise<Tally> {
  const total = optOuts.length + toAdd.length
  const showProgress = createProgress('importing', 'rows')
  let done = 0
  const showDone = (rows: number) => {
    done = rows
    showProgress(done, total)
  }
  try {
    const removal = await store.suppress(optOuts, { ...rule, signal, onProgress: showDone })
    const onProgress = (rows: number) => showDone(optOuts.length + rows)
    const addition = await store.import(toAdd, { signal, onProgress })
    return {
      ...removal,
      added: addition.added,
      // Those of the count, and others who came, or were suppressed, since then.
      alreadyListed: alreadyListed + addition.alreadyListed,
      leftOut: leftOut + addition.leftOut,
    }
  } catch (error) {
    const part = `${toCount(done, 'address', 'addresses')} of ${toNumber(total)} imported`
    if (done > 0) note(`${part}; import the same file again to continue: nobody is added twice`)
    throw error
  }
}

/** Says how to take an import back. */
function noteUndo({ added, suppressed }: Tally, { kind }: ListUrl, options: ImportOptions): void {
  if (suppressed > 0) {
    const forget = nameList('rollcall remove --forget ADDRESS', options)
    note(`to give people back who were suppressed by mistake: ${forget}, and import them again`)
  }
  if (added + suppressed > 0) {
    const restore =
      kind === 'sqlite' ? nameList('rollcall restore FILE', options) : 'a restore with your tools for PostgreSQL'
    note(`the import made no backup. If you have one, ${restore} takes everything back, also who subscribed since`)
  }
}
