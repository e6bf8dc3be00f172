/** Code that the verbs share: options, addresses, a store that is closed at the end, and signals. */

import { type ListUrl, parseListUrl, readListUrl } from '../config/list-url.ts'
import type { Address } from '../email.ts'
import { EXIT, Failure, toSignalExitCode, UsageError } from '../failure.ts'
import { readProcess } from '../files.ts'
import { openStore } from '../store/open.ts'
import type { StoreOptions, SubscriberStore } from '../subscriber.ts'
import { parseOwnerAddress } from '../transfer/reading/addresses.ts'
import { readText } from '../transfer/reading/text.ts'
import { quote, quotePath } from '../words.ts'
import { note } from './output.ts'

/** The options that most verbs have. */
export interface VerbOptions {
  readonly list?: string
  readonly json?: true
}

/** Parses `--list`, or DATABASE_URL when it is not given. @throws UsageError */
export function parseListOption({ list }: VerbOptions): ListUrl {
  return list === undefined ? readListUrl() : parseListUrl('--list', list)
}

/** The URL of a PostgreSQL list with a password, as `--list` has it. src/config/postgres-url.ts says what a password is. */
const WITH_PASSWORD = /^(?<start>(?:--list=)?postgres(?:ql)?:\/\/[^:@/?#]+):[^/?#]*(?<end>@.*)$/s

/** Puts PASSWORD in the place of a password, in a word of a command that is printed. */
export function maskPassword(word: string): string {
  return word.replace(WITH_PASSWORD, '$<start>:PASSWORD$<end>')
}

/**
 * Adds the `--list` of this command, without its password, to the commands in a text for the owner: they would act on the list of the
 * settings otherwise.
 */
export function nameList(text: string, { list }: VerbOptions): string {
  if (list === undefined) return text
  const option = `--list ${quotePath(maskPassword(list))}`
  return text.replace(/\brollcall (?:count|export|import|remove|restore)\b/g, (command) => `${command} ${option}`)
}

/** Parses `--list` for a verb that works on SQLite lists only. @param instead what to use for PostgreSQL. @throws Failure */
export function parseSqliteOption(options: VerbOptions, instead: string): ListUrl & { readonly kind: 'sqlite' } {
  const list = parseListOption(options)
  if (list.kind === 'sqlite') return list
  throw new Failure(`this works on SQLite lists only. For PostgreSQL, use ${instead}`)
}

/**
 * Parses the addresses of a command line. `-` stands for those in standard input, one per line: sudo writes its arguments to a
 * log. @throws UsageError for one that is not valid, and when there is none; as `readText`
 */
export async function readAddresses(texts: readonly string[]): Promise<readonly Address[]> {
  if (!texts.includes('-')) return texts.map(parseAddressArgument)
  if (process.stdin.isTTY) note('type one address on each line; then press Enter and Ctrl-D')
  const lines = (await readText('-')).split(/[\r\n]+/).filter((line) => line.trim() !== '')
  if (lines.length === 0) throw new UsageError('standard input has no address')
  return texts.flatMap((text) => (text === '-' ? lines : text)).map(parseAddressArgument)
}

/** @throws UsageError */
function parseAddressArgument(text: string): Address {
  const parsed = parseOwnerAddress(text)
  if (parsed.ok) return parsed.value
  throw new UsageError(`${quote(text)}: ${parsed.reason}`)
}

/**
 * Opens a list, works on it, and closes it.
 *
 * @param work gets the store, and what says whether its answers are complete: those without the inbox of a list are not
 */
export async function withStore<T>(
  list: ListUrl,
  work: (store: SubscriberStore, isComplete: () => boolean) => Promise<T>,
  access: StoreOptions['access'] = 'read',
): Promise<T> {
  let complete = true
  const notify = (text: string) => {
    note(text)
    complete = false
    // A script must see it too.
    process.exitCode = EXIT.incomplete
  }
  const store = await openStore(list, { access, notify })
  try {
    return await work(store, () => complete)
  } finally {
    await store.close()
  }
}

/** The signals that end a process in order: SIGHUP too, which is the end of its terminal. Under `nohup`, a process must outlive that. */
export function listStopSignals(): readonly NodeJS.Signals[] {
  // A mask in hexadecimal (proc(5)), with SIGHUP in the lowest bit.
  const ignoresHangup = /^SigIgn:.*[13579bdf]$/m.test(readProcess('status').toString())
  return ignoresHangup ? ['SIGINT', 'SIGTERM'] : ['SIGINT', 'SIGTERM', 'SIGHUP']
}

/**
 * Signals within this many milliseconds count as one: npm passes on a signal that its process group also got, perhaps late. At the end of a
 * terminal, the system and the shell each send one.
 */
export const SAME_SIGNAL_MS = 1_000

/**
 * Runs work that the first signal to stop aborts with a Failure. A second one ends the process at once.
 *
 * @param endNote the first signal prints it, and ends the process. Default: none, and the work ends
 */
export async function withInterrupt<T>(work: (signal: AbortSignal) => Promise<T>, endNote?: string): Promise<T> {
  const controller = new AbortController()
  let abortedAt = -Infinity
  const abort = (name: NodeJS.Signals) => {
    const now = performance.now()
    if (now - abortedAt < SAME_SIGNAL_MS) return
    const exitCode = toSignalExitCode(name)
    if (endNote !== undefined) note(`rollcall: ${endNote}`)
    if (endNote !== undefined || controller.signal.aborted) process.exit(exitCode)
    abortedAt = now
    controller.abort(new Failure('stopped', { exitCode }))
  }
  const names = listStopSignals()
  for (const name of names) process.on(name, abort)
  try {
    return await work(controller.signal)
  } finally {
    for (const name of names) process.off(name, abort)
  }
}
