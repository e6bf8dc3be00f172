import type { Command } from 'commander'
import type { Address } from '../email.ts'
import { UsageError } from '../failure.ts'
import type { SubscriberStore, SubscriptionState } from '../subscriber.ts'
import { toBatches } from '../transfer/batches.ts'
import { readAddress } from '../transfer/reading/addresses.ts'
import { openSource } from '../transfer/reading/source.ts'
import { openInput } from '../transfer/reading/text.ts'
import { parseAddressArgument } from './arguments.ts'
import { interruptible } from './interrupt.ts'
import { createListCommand, type ListOption, toList, withStore } from './list.ts'
import { note, print, toCount } from './output.ts'

interface RemoveOptions extends ListOption {
  readonly file?: string
  readonly column?: string
  readonly forget?: true
  readonly json?: true
}

/** Addresses that are removed under one lock. */
const BATCH = 1000

/** `rollcall remove`: takes addresses off the list, for good or until they subscribe again. */
export function createRemoveCommand(): Command {
  return createListCommand(
    'remove',
    'take addresses off the list; a keyed hash of each keeps imports from bringing them back',
    'rollcall remove ada@example.org bob@example.org',
  )
    .argument('[address...]')
    .option('--file <file>', 'those in a file: CSV, NDJSON or one address a line; - for standard input')
    .option('--column <name>', 'the column of the address in that file')
    .option('--forget', 'keep no hash, and drop one that is there: an import may bring them back')
    .option('--json', 'as NDJSON')
    .action(async (texts: readonly string[], options: RemoveOptions) => {
      if (texts.length > 0 === (options.file !== undefined)) {
        throw new UsageError('give addresses, or a file of them with --file')
      }
      const given = texts.map(parseAddressArgument)
      await withStore(toList(options), async (store) => {
        if (options.file === undefined) await removeSome(store, given, options)
        else await removeFile(store, options.file, options)
      })
    })
}

async function removeSome(
  store: SubscriberStore,
  addresses: readonly Address[],
  options: RemoveOptions,
): Promise<void> {
  const suppress = options.forget !== true
  const states = await store.remove(addresses, { suppress })
  const lines = addresses.map((email, index) => {
    const was = states[index] ?? 'absent'
    return options.json
      ? JSON.stringify({ email, was, suppressed: suppress })
      : `${email}: ${toWords(was, suppress)}`
  })
  if (lines.length > 0) await print(lines.join('\n'))
}

const REMEMBERED: Readonly<Record<SubscriptionState, string>> = {
  subscribed: 'taken off the list',
  suppressed: 'had been suppressed',
  absent: 'was not on the list; no import will put it there',
}

const FORGOTTEN: Readonly<Record<SubscriptionState, string>> = {
  subscribed: 'taken off the list, and forgotten',
  suppressed: 'had been suppressed, and is forgotten now',
  absent: 'was not on the list',
}

function toWords(was: SubscriptionState, suppress: boolean): string {
  return (suppress ? REMEMBERED : FORGOTTEN)[was]
}

async function removeFile(store: SubscriberStore, file: string, options: RemoveOptions): Promise<void> {
  const { pages } = await openSource(await openInput(file), { column: options.column })
  let refused = 0

  async function* readAddresses(): AsyncGenerator<readonly Address[]> {
    for await (const page of pages) {
      yield page.flatMap(({ line, email }) => {
        const read = readAddress(email)
        if (read.ok) return [read.value]
        refused++
        note(`${file}: line ${line}: ${read.reason}`)
        return []
      })
    }
  }

  await interruptible(async (signal) => {
    for await (const batch of toBatches(readAddresses(), BATCH)) {
      signal.throwIfAborted()
      await removeSome(store, batch, options)
    }
  })
  if (refused === 0) return
  note(`${toCount(refused, 'row')} could not be read as an address`)
  process.exitCode = 1
}
