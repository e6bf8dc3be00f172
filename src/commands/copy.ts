import { existsSync } from 'node:fs'
import { type ListUrl, parseListUrl } from '../config/list-url.ts'
import { Failure, UsageError } from '../failure.ts'
import { toListName } from '../store/list-name.ts'
import { readFileId } from '../store/sqlite/file.ts'
import type { Count, SubscriberStore } from '../subscriber.ts'
import { checkSignal, withInterrupt, withStore } from './list-command.ts'
import { createProgress, print, printJson, toCount } from './output.ts'

export interface CopyOptions {
  readonly from: string
  readonly to: string
  readonly json?: true
}

/** `rollcall copy`: makes an empty list a copy of another one. */
export async function copyList(options: CopyOptions): Promise<void> {
  const [source, target] = [parseListUrl('--from', options.from), parseListUrl('--to', options.to)]
  refuseSameFile(source, target)
  const count = await withStore(source, (from) =>
    withStore(target, (to) => withInterrupt((signal) => copy(from, to, signal)), { create: true }),
  )
  const names = { from: toListName(source), to: toListName(target) }
  if (options.json) return await printJson({ ...names, ...count })
  const addresses = toCount(count.subscribers, 'address', 'addresses')
  await print(
    `${names.to} is a copy of ${names.from}: ${addresses}, ${count.suppressed.toLocaleString('en')} suppressed`,
  )
}

/** Before a list is opened under two names: SQLite keeps a log (WAL) for each name. */
function refuseSameFile(source: ListUrl, target: ListUrl): void {
  if (source.kind !== 'sqlite' || target.kind !== 'sqlite') return
  if (![source.file, target.file].every((file) => existsSync(file))) return
  if (readFileId(source.file) === readFileId(target.file)) throw new UsageError('--from and --to are the same list')
}

/**
 * Makes an empty list a copy of another one, in one transaction.
 *
 * @throws StoreError when the target is not empty, or not all arrived; Failure when somebody is removed meanwhile
 */
export async function copy(from: SubscriberStore, to: SubscriberStore, signal: AbortSignal): Promise<Count> {
  const before = await from.count()
  // After the count, which gives the addresses of the inbox their numbers.
  const head = await from.head()
  const progress = createProgress('copying')

  async function* readSubscribers() {
    let rows = 0
    for await (const listed of from.list()) {
      await checkSignal(signal)
      const page = listed.filter(({ seq }) => seq <= head.lastSeq)
      if (page.length > 0) yield page
      rows += page.length
      progress.update(rows, before.subscribers)
    }
  }

  async function* readSuppressions() {
    yield* from.listSuppressions()
    // Somebody who is removed in between would be a subscriber of the copy, and suppressed.
    if ((await from.count()).suppressed === before.suppressed) return
    throw new Failure('somebody changed the list meanwhile: nothing was copied. Copy again')
  }

  try {
    return await to.fill({ head, subscribers: readSubscribers(), suppressions: readSuppressions() })
  } finally {
    progress.stop()
  }
}
