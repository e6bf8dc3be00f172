import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { ListUrl } from '../config/list-url.ts'
import { Failure, UsageError } from '../failure.ts'
import { createDryRun } from '../store/changes.ts'
import { openStore } from '../store/open.ts'
import { MissingListError, type SubscriberStore } from '../subscriber.ts'
import { type ImportPlan, type ListTally, planImport, writeImport } from '../transfer/list-import.ts'
import { DATE_ORDERS, type DateOrder } from '../transfer/reading/dates.ts'
import { STATUSES, type Status } from '../transfer/reading/export-columns.ts'
import { openInput } from '../transfer/reading/input.ts'
import { toPlainValue } from '../transfer/reading/names.ts'
import { openRepeatableSource } from '../transfer/reading/source.ts'
import { ENCODINGS, type EncodingLabel } from '../transfer/reading/text.ts'
import { createRejectedFile, createRejectedNotes } from '../transfer/writing/rejected-file.ts'
import { findFailure, printSummary, type Summary } from './import-summary.ts'
import { createListCommand, type ListOption, parseListOption, withInterrupt } from './list-command.ts'
import { createProgress, note, toCount } from './output.ts'

interface ImportOptions extends ListOption {
  readonly column?: string
  readonly dateColumn?: string
  readonly dateOrder?: DateOrder
  readonly statusColumn?: string
  readonly treat?: ReadonlyMap<string, Status>
  readonly suppress?: true
  readonly encoding?: EncodingLabel
  readonly rejected?: string
  readonly dryRun?: true
  readonly json?: true
}

/** `rollcall import`: adds the addresses in a file to the list. */
export function createImportCommand(): Command {
  return createListCommand(
    'import',
    'Add the addresses in a file to the list: CSV, NDJSON or one address per line. People who opted out are suppressed',
    'rollcall import old-list.csv --dry-run',
  )
    .argument('<file>', 'The file to import; - for standard input')
    .option(
      '--column <name>',
      'Read the address from this column: its name, or its number from 1 if there is no header',
    )
    .option('--date-column <name>', 'Read the date of the subscription from this column; none reads no date')
    .addOption(new Option('--date-order <order>', 'Read 1/2/2024 as day/month or as month/day').choices(DATE_ORDERS))
    .option('--status-column <name>', 'Read the status from this column; none reads no status')
    .addOption(
      new Option(
        '--treat <value=status>',
        `Say what a status means: ${STATUSES.join(', ')} (can be repeated)`,
      ).argParser(parseTreatment),
    )
    .addOption(
      new Option('--suppress', 'Treat every row as an opt-out, and remove the addresses from the list').conflicts([
        'statusColumn',
        'treat',
      ]),
    )
    .addOption(new Option('--encoding <name>', 'Read this encoding').choices(ENCODINGS))
    .option('--rejected <file>', 'Write rejected rows and their reasons to this file (default: FILE.rejected.csv)')
    .option('--dry-run', 'Print what would happen without changing the list')
    .option('--json', 'Print the summary as JSON')
    .action(runImport)
}

/** Parses `VALUE=STATUS` and adds it to those before. @throws InvalidArgumentError */
function parseTreatment(text: string, before: ReadonlyMap<string, Status> = new Map()): ReadonlyMap<string, Status> {
  const end = text.lastIndexOf('=')
  const status = STATUSES.find((name) => name === text.slice(end + 1))
  if (end < 0 || !status) throw new InvalidArgumentError(`Use VALUE=${STATUSES.join(', VALUE=')}.`)
  return new Map([...before, [toPlainValue(text.slice(0, end)), status]])
}

async function runImport(file: string, options: ImportOptions): Promise<void> {
  const list = parseListOption(options)
  const { rejected = `${file === '-' ? 'stdin' : file}.rejected.csv` } = options
  if (resolve(rejected) === resolve(file)) throw new UsageError('--rejected is the file that is imported')
  // Other lists came from standard input too.
  const replacesOld = options.rejected !== undefined || file !== '-'
  const summary = await withInterrupt((signal) => importFile(list, file, { ...options, rejected, replacesOld }, signal))
  await printSummary(summary, options)
  const failure = findFailure(summary)
  if (failure !== undefined) throw new Failure(failure)
}

async function importFile(
  list: ListUrl,
  file: string,
  options: ImportOptions & Pick<WriteListOptions, 'rejected' | 'replacesOld'>,
  signal: AbortSignal,
): Promise<Summary> {
  const input = await openInput(file)
  // Otherwise the import would stop only when the pipe sends more.
  if (file === '-') signal.addEventListener('abort', () => process.stdin.destroy(signal.reason))
  const source = await openRepeatableSource(input, options)
  try {
    const plan = await planImport(source, { ...options, suppress: options.suppress ?? false, signal })
    const progress = createProgress('importing')
    const onRows = (rows: number) => progress.update(rows, 0)
    return await writeList(list, plan, { ...options, onRows, signal }).finally(progress.stop)
  } finally {
    await source.close()
  }
}

interface WriteListOptions {
  readonly rejected: string
  readonly replacesOld: boolean
  readonly dryRun?: true
  readonly onRows: (rows: number) => void
  readonly signal: AbortSignal
}

async function writeList(
  list: ListUrl,
  plan: ImportPlan,
  { rejected, replacesOld, dryRun, onRows, signal }: WriteListOptions,
): Promise<Summary> {
  const { source, suppress, statuses } = plan
  const hasStatus = suppress || statuses.length > 0
  const refused = dryRun
    ? createRejectedNotes(note)
    : createRejectedFile(rejected, source.header, { hasStatus, replacesOld })
  const store = dryRun ? await openExisting(list) : await openStore(list, { notify: note })
  const target = dryRun || !store ? createDryRun(store) : store
  let changed = 0
  try {
    const onBatch = ({ added, known, suppressed, optedOut, kept }: ListTally) => {
      changed = added + optedOut - kept
      onRows(added + known + suppressed + optedOut)
    }
    const tally = await writeImport(target, plan, { onRejected: refused.add, onBatch, signal })
    await refused.finish()
    const isWritten = !dryRun && refused.count > 0
    const { columns } = source
    return { ...tally, refused: refused.count, rejected: isWritten ? rejected : null, columns, statuses }
  } catch (error) {
    await refused.discard()
    if (!dryRun && changed > 0) {
      const done = toCount(changed, 'address was', 'addresses were')
      note(`${done} imported or suppressed before this; import the same file again to continue`)
    }
    throw error
  } finally {
    await store?.close()
  }
}

/** Opens the list for a dry run, which does not create it. */
async function openExisting(list: ListUrl): Promise<SubscriberStore | undefined> {
  try {
    return await openStore(list, { create: false, notify: note })
  } catch (error) {
    if (error instanceof MissingListError) return undefined
    throw error
  }
}
