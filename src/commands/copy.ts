import { type ListUrl, parseListUrl, readListFile, toListName } from '../config/list-url.ts'
import { UsageError } from '../failure.ts'
import { withSyncs } from '../store/sqlite/backup.ts'
import type { Count, SubscriberStore } from '../subscriber.ts'
import { createProgress, print, printJson, toCount, toNumber } from './output.ts'
import { checkSignal, withInterrupt, withStore } from './shared.ts'

export interface CopyOptions {
  readonly from?: string
  readonly fromFile?: string
  readonly to?: string
  readonly toFile?: string
  readonly json?: true
}

/** `rollcall copy`: makes an empty list a copy of another one. */
export async function copyList(options: CopyOptions): Promise<void> {
  const source = readList('--from', options.from, options.fromFile)
  const target = readList('--to', options.to, options.toFile)
  const { isSameList } = await import('../store/open.ts')
  // Before the lists are opened: SQLite keeps a log (WAL) for each name of a file.
  if (await isSameList(source, target)) throw new UsageError('--from and --to are the same list')
  const fill = () =>
    withStore(source, (from) =>
      withStore(target, (to) => withInterrupt((signal) => copy(from, to, signal)), { access: 'create' }),
    )
  const count = await (target.kind === 'sqlite' ? withSyncs([target.file, `${target.file}-wal`], fill) : fill())
  const names = { from: toListName(source), to: toListName(target) }
  if (options.json) return await printJson({ ...names, ...count })
  const addresses = toCount(count.subscribers, 'address', 'addresses')
  await print(`${names.to} is a copy of ${names.from}: ${addresses}, ${toNumber(count.suppressed)} suppressed`)
}

/** Reads the URL of a list, or the file that has it. @throws UsageError */
function readList(option: string, url: string | undefined, file: string | undefined): ListUrl {
  if (file) return readListFile(`${option}-file`, file)
  if (url) return parseListUrl(option, url)
  throw new UsageError(`name the list with ${option} or ${option}-file`)
}

/**
 * Makes an empty list a copy of one state of another one, in one transaction.
 *
 * @throws StoreError when the target is not empty, or one of the lists is damaged; the reason of the signal
 */
async function copy(from: SubscriberStore, to: SubscriberStore, signal: AbortSignal): Promise<Count> {
  const total = (await from.count()).subscribers
  const showProgress = createProgress('copying')
  await using snapshot = await from.snapshot()
  let rows = 0

  async function* track<Row>(pages: AsyncIterable<readonly Row[]>): AsyncGenerator<readonly Row[]> {
    for await (const page of pages) {
      await checkSignal(signal)
      rows += page.length
      showProgress(rows, total)
      yield page
    }
  }

  const { head, subscribers, suppressions } = snapshot
  return await to.fill({ head, subscribers: track(subscribers), suppressions: track(suppressions) })
}
