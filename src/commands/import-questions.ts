/** The questions of an import: what values mean that nobody knows, and whether to import. Without a terminal, a command instead. */

import { toListName } from '../config/list-url.ts'
import { Failure, quotePath, UsageError } from '../failure.ts'
import type { Table } from '../transfer/reading/csv.ts'
import { quote } from '../transfer/reading/review.ts'
import type { CountedValue } from '../transfer/reading/rows.ts'
import { findAnswer, STATUSES, type Status } from '../transfer/reading/words.ts'
import { note, toCount } from './output.ts'
import { parseListOption } from './shared.ts'
import { askPerson } from './terminal.ts'

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

/** The meanings of the answers 1, 2 and 3. */
const CHOICES = ['subscribed', 'suppressed', 'skip'] as const

/** Asks what each value means. @throws Failure when the person stops */
export async function askMeanings(values: readonly CountedValue[]): Promise<ReadonlyMap<string, Status>> {
  return await askPerson(STOPPED, async (ask) => {
    const meanings = new Map<string, Status>()
    for (const value of values) {
      const question = `${quote(value.column)}: what does ${describe(value)} mean? 1 subscribed, 2 left, 3 neither`
      let status: Status | undefined
      while (!status) status = CHOICES[['1', '2', '3'].indexOf(await ask(question))]
      meanings.set(toTreated(value), status)
    }
    return meanings
  })
}

const describe = ({ value, rows }: CountedValue) => `${quote(value)} (${toCount(rows, 'row')})`

/** Values are compared without spaces and punctuation, so a line break becomes a space. */
const toTreated = ({ column, value }: CountedValue) => `${column}:${value.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')}`

/** Asks whether to import. @param isDoubtful whether Enter means no @throws Failure when the person stops, or says no */
export async function askToImport(isDoubtful: boolean): Promise<void> {
  const answer = await askPerson(STOPPED, async (ask) => {
    while (true) {
      const text = await ask(`Import? ${isDoubtful ? '[y/N]' : '[Y/n]'}`)
      const found = text === '' ? (isDoubtful ? 'no' : 'yes') : findAnswer(text)
      if (found) return found
    }
  })
  if (answer === 'no') throw new Failure(STOPPED)
}

/** Most unknown values that a command has. */
const MAX_TREATED = 10

/** Prints what nobody knows, and the command to fill in. Returns the error. */
export function explainUnknown(values: readonly CountedValue[], { place }: Table): Failure {
  for (const value of values.slice(0, MAX_TREATED)) {
    note(`! ${quote(value.column)}: ${place} ${value.line}: ${describe(value)} is not a known status: --treat`)
  }
  const columns = [...new Set(values.map(({ column }) => column))]
  const treated = values.length <= MAX_TREATED ? values.map(toTreated) : columns.map((column) => `${column}:*`)
  note('Put subscribed, suppressed (the person left) or skip (neither) in the place of each STATUS:')
  note(`  ${toCommand(treated.flatMap((text) => ['--treat', `${text}=STATUS`]))}`)
  note(`If ${columns.map(quote).join(', ')} does not say who left: --ignore-column`)
  return new Failure('nothing was imported: only you know who left')
}

/** Prints the command that imports as shown. Returns the error. */
export function explainDoubts(): Failure {
  note('To import exactly as shown:')
  note(`  ${toCommand(['--yes'])}`)
  return new Failure('nothing was imported: answer the lines that begin with !, or use --yes')
}

/** The command of this process with more options, for a POSIX shell. A URL of a database is without its password. */
export function toCommand(added: readonly string[]): string {
  const words = ['rollcall', ...process.argv.slice(2), ...added]
  const toShown = (word: string) => {
    const [, option = '', url] = /^(--list=)?(postgres(?:ql)?:.*)/s.exec(word) ?? []
    return url === undefined ? word : `${option}${toListName(parseListOption({ list: url }))}`
  }
  return words.map(toShown).map(quotePath).join(' ')
}
