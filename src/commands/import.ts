import type { Command } from 'commander'
import { openDryRun } from '../store/dry-run.ts'
import type { ImportTally, SubscriberStore } from '../subscriber.ts'
import { importRows } from '../transfer/import.ts'
import { readRows } from '../transfer/reading/import-rows.ts'
import { openSource } from '../transfer/reading/source.ts'
import { openInput } from '../transfer/reading/text.ts'
import { createRejectedFile } from '../transfer/writing/rejected-file.ts'
import { interruptible } from './interrupt.ts'
import { createListCommand, type ListOption, toList, withStore } from './list.ts'
import { note, print, printJson, toCount } from './output.ts'
import { createProgress } from './progress.ts'

interface ImportOptions extends ListOption {
  readonly column?: string
  readonly rejected?: string
  readonly dryRun?: true
  readonly json?: true
}

/** `rollcall import`: an older list, put on this one. */
export function createImportCommand(): Command {
  return createListCommand(
    'import',
    'put the addresses of a file on the list: CSV, NDJSON or one address a line',
    'rollcall import old-list.csv --dry-run',
  )
    .argument('<file>', '- for standard input')
    .option(
      '--column <name>',
      'the column of the address: its name, or its number from 1 where there is no header',
    )
    .option('--rejected <file>', 'where refused rows go with their reasons (default: FILE.rejected.csv)')
    .option('--dry-run', 'only tell what would happen')
    .option('--json', 'the summary as JSON')
    .action(async (file: string, options: ImportOptions) => {
      await withStore(toList(options), (store) => importFile(store, file, options), { create: true })
    })
}

/** What became of the rows of a file. */
interface Summary extends ImportTally {
  readonly refused: number
  /** Where the refused are, if there are any. */
  readonly rejected?: string
}

async function importFile(store: SubscriberStore, file: string, options: ImportOptions): Promise<void> {
  const summary = await interruptible((signal) => takeIn(store, file, options, signal))
  if (options.json) return await printJson(summary)
  const { added, known, suppressed, refused, rejected } = summary
  await print(
    `${options.dryRun ? 'would be: ' : ''}${added} new, ${known} known, ${suppressed} suppressed, ${refused} refused`,
  )
  if (rejected) note(`the refused rows, with their line numbers and reasons: ${rejected}`)
}

async function takeIn(
  store: SubscriberStore,
  file: string,
  { column, dryRun, rejected = `${file === '-' ? 'stdin' : file}.rejected.csv` }: ImportOptions,
  signal: AbortSignal,
): Promise<Summary> {
  const input = await openInput(file)
  // Whoever waits for a pipe need not wait for it to end.
  if (file === '-') signal.addEventListener('abort', () => process.stdin.destroy(signal.reason))
  let bytes = 0
  const source = await openSource(input, { column, onBytes: (total) => (bytes = total) })
  const rejectedFile = createRejectedFile(rejected, source.header)
  const reader = readRows(source, rejectedFile.add)
  const progress = await createProgress('importing', async () => input.size)
  const target = dryRun ? await openDryRun(store) : store
  let sofar: ImportTally = { added: 0, known: 0, suppressed: 0 }
  try {
    const onBatch = (tally: ImportTally) => {
      sofar = tally
      progress.update(bytes, tally.added + tally.known + tally.suppressed)
    }
    const tally = await importRows(target, reader.pages, { onBatch, signal })
    await rejectedFile.finish()
    const { refused } = reader
    return { ...tally, refused, ...(refused > 0 && { rejected }) }
  } catch (error) {
    await rejectedFile.discard()
    if (!dryRun && sofar.added > 0) {
      note(
        `${toCount(sofar.added, 'address', 'addresses')} are on the list already; the same import goes on from there`,
      )
    }
    throw error
  } finally {
    progress.stop()
    if (dryRun) await target.close()
  }
}
