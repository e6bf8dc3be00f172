import type { Command } from 'commander'
import type { Address } from '../email.ts'
import { Failure, UsageError } from '../failure.ts'
import type { SubscriberStore, SubscriptionState } from '../subscriber.ts'
import { toBatches } from '../transfer/batches.ts'
import { parseOwnerAddress } from '../transfer/reading/addresses.ts'
import { openInput } from '../transfer/reading/input.ts'
import { openSource } from '../transfer/reading/source.ts'
import { parseAddressArgument } from './arguments.ts'
import { withInterrupt } from './interrupt.ts'
import { createListCommand, type ListOption, parseListOption, withStore } from './list-command.ts'
import { note, noteSummary, print, toCount } from './output.ts'
import type { Outputs, Summaries } from './output-schemas.ts'
import { createProgress } from './progress.ts'

interface RemoveOptions extends ListOption {
  readonly file?: string
  readonly column?: string
  readonly forget?: true
  readonly json?: true
}

type Summary = Summaries['remove']

/** Addresses in a batch, which is removed under one lock: about 100 ms at most. */
const BATCH_SIZE = 4000

/** `rollcall remove`: removes addresses and suppresses them. */
export function createRemoveCommand(): Command {
  return createListCommand(
    'remove',
    'Remove addresses from the list and suppress them: imports skip a suppressed address until it subscribes again',
    'rollcall remove ada@example.org bob@example.org',
  )
    .argument('[address...]', 'The addresses to remove')
    .option(
      '--file <file>',
      'Remove the addresses in this file: CSV, NDJSON or one address per line; - for standard input',
    )
    .option('--column <name>', 'Read the address from this column of the file: its name, or its number from 1')
    .option('--forget', 'Remove addresses without suppressing them, and delete their suppressions')
    .option('--json', 'Print one JSON object per address')
    .action(async (texts: readonly string[], options: RemoveOptions) => {
      const { file } = options
      if (texts.length > 0 === (file !== undefined)) {
        throw new UsageError('give either addresses or --file')
      }
      const addresses = texts.map(parseAddressArgument)
      const summary = await withStore(parseListOption(options), (store) =>
        file === undefined ? removeBatch(store, addresses, options) : removeFile(store, file, options),
      )
      if (options.json || file !== undefined) noteSummary('remove', summary, toText(summary))
      const { rejected } = summary
      if (rejected > 0) throw new Failure(`${toCount(rejected, 'row')} without a valid address`)
    })
}

function toText({ removed, suppressed, absent }: Summary): string {
  return `${removed} removed, ${suppressed} suppressed before, ${absent} not on the list`
}

async function removeBatch(
  store: SubscriberStore,
  addresses: readonly Address[],
  { forget, json }: RemoveOptions,
): Promise<Summary> {
  const suppress = !forget
  const summary = { removed: 0, suppressed: 0, absent: 0, rejected: 0 }
  const states = await store.remove(addresses, { suppress })
  const lines = addresses.map((email, index) => {
    const was = states[index] ?? 'absent'
    summary[was === 'subscribed' ? 'removed' : was]++
    if (json)
      return JSON.stringify({ email, was, state: suppress ? 'suppressed' : 'absent' } satisfies Outputs['remove'])
    return `${email}: ${(suppress ? SUPPRESSED : FORGOTTEN)[was]}`
  })
  await print(lines.join('\n'))
  return summary
}

/** What happened to an address, by its state before. */
const SUPPRESSED: Readonly<Record<SubscriptionState, string>> = {
  subscribed: 'removed',
  suppressed: 'suppressed before',
  absent: 'was not on the list, now suppressed',
}

/** The same with `--forget`. */
const FORGOTTEN: Readonly<Record<SubscriptionState, string>> = {
  subscribed: 'removed, not suppressed',
  suppressed: 'no longer suppressed',
  absent: 'was not on the list',
}

async function removeFile(store: SubscriberStore, file: string, options: RemoveOptions): Promise<Summary> {
  const input = await openInput(file)
  let [bytes, rows] = [0, 0]
  const { pages } = await openSource(input, { column: options.column, onBytes: (total) => (bytes = total) })
  const progress = await createProgress('removing', { hasOutput: true, findTotal: async () => input.size })
  const summary = { removed: 0, suppressed: 0, absent: 0, rejected: 0 }

  async function* readAddresses(): AsyncGenerator<readonly Address[]> {
    for await (const page of pages) {
      yield page.flatMap(({ line, email }) => {
        const parsed = parseOwnerAddress(email)
        if (parsed.ok) return [parsed.value]
        summary.rejected++
        note(`${file}: line ${line}: ${parsed.reason}`)
        return []
      })
    }
  }

  await withInterrupt(async (signal) => {
    for await (const batch of toBatches(readAddresses(), BATCH_SIZE)) {
      signal.throwIfAborted()
      const { removed, suppressed, absent } = await removeBatch(store, batch, options)
      summary.removed += removed
      summary.suppressed += suppressed
      summary.absent += absent
      rows += batch.length
      progress.update(bytes, rows)
    }
  }).finally(progress.stop)
  return summary
}
