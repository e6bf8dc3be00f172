/** The questions of an import: what values mean that nobody knows, and whether to import. Without a terminal, a command instead. */

import { Failure, UsageError } from '../failure.ts'
import type { Table } from '../transfer/reading/csv.ts'
import { DOUBTFUL, type Doubtful } from '../transfer/reading/layout.ts'
import type { CountedValue } from '../transfer/reading/rows.ts'
import { toTreated } from '../transfer/reading/statuses.ts'
import { findAnswer, findFlag, STATUSES, type Status, toPlain } from '../transfer/reading/words.ts'
import { quote, quotePath, toCount } from '../words.ts'
import { ask, note } from './output.ts'
import { maskPassword } from './shared.ts'

const STOPPED = 'stopped: nothing was imported'

/** Parses `VALUE=STATUS`. @throws UsageError */
export function parseTreatments(texts: readonly string[] = []): ReadonlyMap<string, Status> {
  return new Map(
    texts.map((text) => {
      const end = text.lastIndexOf('=')
      const status = STATUSES.find((name) => name === text.slice(end + 1))
      if (end < 0 || !status) throw new UsageError(`--treat is "${text}": use VALUE=${STATUSES.join(', VALUE=')}`)
      return [text.slice(0, end), status]
    }),
  )
}

/** Parses the doubts that the owner accepts. @throws UsageError */
export function parseAccepted(texts: readonly string[] = []): readonly Doubtful[] {
  return texts.map((text) => {
    const doubt = DOUBTFUL.find((name) => name === text)
    if (!doubt) throw new UsageError(`--accept is "${text}": use ${DOUBTFUL.join(', ')}`)
    return doubt
  })
}

/** Asks until the answer has a meaning. @throws Failure when the person stops */
async function askFor<T>(question: string, findMeaning: (answer: string) => T | undefined): Promise<T> {
  while (true) {
    const found = findMeaning(await ask(question, STOPPED))
    if (found !== undefined) return found
  }
}

/** The meanings of the answers 1, 2 and 3. */
const CHOICES = ['subscribed', 'suppressed', 'skip'] as const

/** Asks what each value means. @throws Failure when the person stops */
export async function askMeanings(values: readonly CountedValue[]): Promise<ReadonlyMap<string, Status>> {
  const meanings = new Map<string, Status>()
  for (const value of values) {
    const question = `${quote(value.column)}: what does ${describe(value)} mean? 1 subscribed, 2 left, 3 neither`
    meanings.set(toTreated(value), await askFor(question, (answer) => CHOICES[['1', '2', '3'].indexOf(answer)]))
  }
  return meanings
}

/** Asks whether to import. @param isDoubtful whether Enter means no @throws Failure when the person stops, or says no */
export async function askToImport(isDoubtful: boolean): Promise<void> {
  const question = isDoubtful ? 'Import? [y/N]' : 'Import? [Y/n]'
  const meaningOfEnter = isDoubtful ? 'no' : 'yes'
  const answer = await askFor(question, (text) => (text === '' ? meaningOfEnter : findAnswer(text)))
  if (answer === 'no') throw new Failure(STOPPED)
}

const describe = ({ value, rows }: CountedValue) => `${quote(value)} (${toCount(rows, 'row')})`

/** Most unknown values that a command has. */
const MAX_TREATED = 10

/** Prints what nobody knows, and the command to fill in. Returns the error. */
export function explainUnknown(values: readonly CountedValue[], { place }: Table): Failure {
  for (const value of values.slice(0, MAX_TREATED)) {
    note(`! ${quote(value.column)}: ${place} ${value.line}: ${describe(value)} is not a known status: --treat`)
  }
  const others = values.length - MAX_TREATED
  if (others > 0) note(`! and ${toCount(others, 'more value')} of no known status`)
  const columns = [...new Set(values.map(({ column }) => column))]
  // An asterisk does not stand for an empty value or for no.
  const plain = values.filter(({ value }) => value === '' || findFlag(toPlain(value)) === 'no')
  const many = [...columns.map((column) => `${column}:*`), ...plain.map(toTreated)]
  const treated = values.length <= MAX_TREATED ? values.map(toTreated) : many
  note('Put subscribed, suppressed (the person left) or skip (neither) in the place of each STATUS:')
  noteCommand(treated.flatMap((text) => ['--treat', `${text}=STATUS`]))
  note(`If ${columns.map(quote).join(', ')} does not say who left: --ignore-column`)
  return new Failure('nothing was imported: only you know who left')
}

/** Prints the command that imports as shown. Returns the error. */
export function explainDoubts(): Failure {
  note('To import exactly as shown:')
  noteCommand(['--yes'])
  return new Failure('nothing was imported: answer the lines that begin with !, or use --yes')
}

/** Prints the command of this process with more options, for a POSIX shell. It has no password, which the owner puts in its place. */
function noteCommand(added: readonly string[]): void {
  const given = process.argv.slice(2)
  const shown = given.map(maskPassword)
  if (shown.join() !== given.join()) note('Put the password of the list in the place of PASSWORD.')
  note(`  ${['rollcall', ...shown, ...added].map(quotePath).join(' ')}`)
}
