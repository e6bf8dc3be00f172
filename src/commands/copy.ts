import { setImmediate } from 'node:timers/promises'
import { type ListUrl, parseListUrl, readListFile, toListName } from '../config/list-url.ts'
import { UsageError } from '../failure.ts'
import { fillList, isSameList } from '../store/open.ts'
import { checkAndCopy } from '../store/sqlite/backup.ts'
import { createListFile } from '../store/sqlite/restore.ts'
import type { Count, SubscriberStore } from '../subscriber.ts'
import { toCount, toNumber } from '../words.ts'
import { createProgress, print, printJson } from './output.ts'
import { withInterrupt, withStore } from './shared.ts'

interface CopyOptions {
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
  // Before the lists are opened: SQLite keeps a log (WAL) for each name of a file.
  if (await isSameList(source, target)) throw new UsageError('--from and --to are the same list')
  // A SQLite list stays open meanwhile: one that nobody has open would be read without locks.
  const count = await withStore(source, (from) =>
    withInterrupt((signal) =>
      source.kind === 'sqlite' && target.kind === 'sqlite'
        ? copyFile(source.file, target.file, signal)
        : copyRows(from, target, signal),
    ),
  )
  const names = { from: toListName(source), to: toListName(target) }
  const { subscribers, reserved, suppressed } = count
  if (options.json) return await printJson({ ...names, subscribers, reserved, suppressed })
  const addresses = toCount(subscribers, 'address', 'addresses')
  await print(`${names.to} is a copy of ${names.from}: ${addresses}, ${toNumber(suppressed)} suppressed`)
}

/** Reads the URL of a list, or the file that has it. @throws UsageError */
function readList(option: string, url: string | undefined, file: string | undefined): ListUrl {
  if (file) return readListFile(`${option}-file`, file)
  if (url) return parseListUrl(option, url)
  throw new UsageError(`name the list with ${option} or ${option}-file`)
}

/** Copies a SQLite file to another one, with VACUUM. @throws as `fillList` */
async function copyFile(source: string, target: string, signal: AbortSignal): Promise<Count> {
  const showProgress = createProgress('copying', 'MB')
  return await createListFile(target, (partial) =>
    checkAndCopy({ source, target: partial, kind: 'list' }, signal, showProgress),
  )
}

/** Copies one state of a list to any store, row by row. @throws as `fillList` */
async function copyRows(from: SubscriberStore, target: ListUrl, signal: AbortSignal): Promise<Count> {
  const { subscribers: people, suppressed } = await from.count()
  const total = people + suppressed
  const showProgress = createProgress('copying', 'rows')
  await using snapshot = await from.snapshot()
  let rows = 0

  async function* track<Row>(pages: AsyncIterable<readonly Row[]>): AsyncGenerator<readonly Row[]> {
    for await (const page of pages) {
      // The work of a SQLite list is all microtasks, and the event loop must turn for a signal of the system.
      await setImmediate()
      signal.throwIfAborted()
      rows += page.length
      showProgress(rows, total)
      yield page
    }
  }

  const { head, subscribers, suppressions } = snapshot
  return await fillList(target, { head, subscribers: track(subscribers), suppressions: track(suppressions) }, signal)
}
