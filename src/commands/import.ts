import type { Command } from 'commander'
import { openDryRun } from '../store/dry-run.ts'
import type { ImportTally, SubscriberStore } from '../subscriber.ts'
import { importRows } from '../transfer/batch-import.ts'
import { readRows } from '../transfer/reading/import-rows.ts'
import { openSource } from '../transfer/reading/source.ts'
import { openInput } from '../transfer/reading/text.ts'
import { createRejectedFile } from '../transfer/writing/rejected-file.ts'
import { withInterrupt } from './interrupt.ts'
import { createListCommand, type ListOption, parseListOption, withStore } from './list-command.ts'
import { note, print, printJson, toCount } from './output.ts'
import { createProgress } from './progress.ts'

interface ImportOptions extends ListOption {
  readonly column?: string
  readonly rejected?: string
  readonly dryRun?: true
  readonly json?: true
}

/** `rollcall import`: adds the addresses in a file to the list. */
export function createImportCommand(): Command {
  return createListCommand(
    'import',
    'Add the addresses in a file to the list: CSV, NDJSON or one address per line',
    'rollcall import old-list.csv --dry-run',
  )
    .argument('<file>', 'The file to import; - for standard input')
    .option(
      '--column <name>',
      'Read the address from this column: its name, or its number from 1 if there is no header',
    )
    .option('--rejected <file>', 'Write rejected rows and their reasons to this file (default: FILE.rejected.csv)')
    .option('--dry-run', 'Print what would happen without changing the list')
    .option('--json', 'Print the summary as JSON')
    .action(async (file: string, options: ImportOptions) => {
      await withStore(parseListOption(options), (store) => runImport(store, file, options), { create: true })
    })
}

/** The result of an import. Its members are those of `--json`. */
interface Summary extends ImportTally {
  /** Number of rejected rows. */
  readonly refused: number
  /** The file of the rejected rows, if there are any. */
  readonly rejected?: string
}

async function runImport(store: SubscriberStore, file: string, options: ImportOptions): Promise<void> {
  const summary = await withInterrupt((signal) => importFile(store, file, options, signal))
  if (options.json) return await printJson(summary)
  const { added, known, suppressed, refused, rejected } = summary
  const counts = `${added} new, ${known} known, ${suppressed} suppressed, ${refused} rejected`
  await print(options.dryRun ? `dry run: ${counts}` : counts)
  if (rejected) note(`rejected rows, with line numbers and reasons: ${rejected}`)
}

async function importFile(
  store: SubscriberStore,
  file: string,
  { column, dryRun, rejected = `${file === '-' ? 'stdin' : file}.rejected.csv` }: ImportOptions,
  signal: AbortSignal,
): Promise<Summary> {
  const input = await openInput(file)
  // Otherwise the import would stop only when the pipe sends more.
  if (file === '-') signal.addEventListener('abort', () => process.stdin.destroy(signal.reason))
  let bytes = 0
  const source = await openSource(input, { column, onBytes: (total) => (bytes = total) })
  const rejectedFile = createRejectedFile(rejected, source.header)
  const progress = await createProgress('importing', async () => input.size)
  const target = dryRun ? await openDryRun(store) : store
  let written = 0
  try {
    const onBatch = ({ added, known, suppressed }: ImportTally) => {
      written = added
      progress.update(bytes, added + known + suppressed)
    }
    const tally = await importRows(target, readRows(source, rejectedFile.add), { onBatch, signal })
    await rejectedFile.finish()
    const { count } = rejectedFile
    return { ...tally, refused: count, ...(count > 0 && { rejected }) }
  } catch (error) {
    await rejectedFile.discard()
    if (!dryRun && written > 0) {
      note(
        `${toCount(written, 'new address', 'new addresses')} imported before this; import the same file again to continue`,
      )
    }
    throw error
  } finally {
    progress.stop()
    if (dryRun) await target.close()
  }
}
