/** A doubt about an import: what was seen, and the options that answer it. */

import { quote, quotePath, toNumber } from '../../words.ts'
import type { Effect, Skipped } from './effect.ts'
import type { Column, Doubtful } from './layout.ts'
import type { Cell } from './profile.ts'
import type { Rows } from './rows.ts'
import { toTreated, type Value } from './statuses.ts'
import type { Status } from './words.ts'

/** An option that answers a doubt, and what it does. */
export interface Answer {
  /** For a shell, such as `--ignore-column 'Order #'`; or another value of the option before it, such as `or mdy`. */
  readonly option: string
  /** Such as `does not read it`. */
  readonly effect: string
}

/** What is doubtful, and the options that answer it. */
export interface Doubt {
  readonly seen: string
  readonly answers: readonly Answer[]
}

type Found = Doubt | readonly Doubt[] | undefined

/** Finds doubts about the file. */
export type FileDoubt = (rows: Rows, effect?: Effect) => Found

/** Finds doubts about what the import does to the list. */
export type ListDoubt = (rows: Rows, effect: Effect) => Found

/** Whether the owner has accepted doubts of a kind. */
export const isAccepted = ({ options }: Rows, kind: Doubtful) => options.accept?.includes(kind) === true

/** Says what was seen, and which options answer it, on one line. */
export function toDoubtText({ seen, answers }: Doubt): string {
  const options = answers.map(({ option, effect }) => `${option} ${effect}`.trim())
  return `${seen}: ${options.join(', ')}`
}

/** Accepts a kind of doubt. */
export const accepting = (kind: Doubtful, effect: string): Answer => ({ option: `--accept ${kind}`, effect })
/** Names a column in an option. */
export const naming = (option: string, { option: name }: Column, effect: string): Answer => ({
  option: `${option} ${quotePath(name)}`,
  effect,
})
/** Says what a value means. */
export const treating = (value: Value, status: Status, effect: string): Answer => ({
  option: `--treat ${quotePath(`${toTreated(value)}=${status}`)}`,
  effect,
})

/** The option that removes people whose rows are skipped. @param importEffect says why some stay, and whether others left on an unknown date */
export function removing({ value, people, removable, areUndated }: Skipped, importEffect: Effect): Answer {
  const some = `removes ${toNumber(removable)} of them (the others: ${importEffect.reasonOfKept})`
  const removes = removable < people ? some : 'removes them'
  // `--undated remove` also removes people who left by their status.
  const areOthersUndated = areUndated && importEffect.undatedKept !== undefined
  const answer = treating(value, 'suppressed', areOthersUndated ? `${removes}, and others without a date` : removes)
  if (!areUndated) return answer
  return { option: `${answer.option} --undated remove`, effect: answer.effect }
}

/** Such as `line 3 "bob@"`, and why it is rejected. For an invalid address, the cell says enough. */
export function describeRow({ line, cell, reason = '' }: Cell & { readonly reason?: string }, { table }: Rows): string {
  const isPlain = /^(?:the address is not valid|there is no address)?$/.test(reason)
  return `${table.place} ${line} ${quote(cell)}${isPlain ? '' : ` (${reason})`}`
}
