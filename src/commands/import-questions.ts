/** Settles the plan of an import: the owner answers its questions on a terminal. Otherwise it stops once, with commands. */

import { escapeControls, Failure, UsageError } from '../failure.ts'
import { A_DATE } from '../transfer/reading/evidence.ts'
import {
  type CountedValue,
  createPlan,
  hasQuestions,
  type Plan,
  type PlanOptions,
  type SuspectColumn,
} from '../transfer/reading/plan.ts'
import type { Table } from '../transfer/reading/table.ts'
import { findFlag, STATUSES, type Status, saysLeft, toPlainValue, WORDS } from '../transfer/reading/words.ts'
import { note, toCount } from './output.ts'
import { type Ask, askPerson } from './terminal.ts'

/** Options that answer questions, in the order of the command line. */
type Answers = readonly (readonly [option: string, value: string])[]

/**
 * Plans how to read a table.
 *
 * @param canAsk whether a person sits at a terminal
 * @throws Failure when a question has no answer
 */
export async function settlePlan(table: Table, options: PlanOptions, canAsk: boolean): Promise<Plan> {
  let plan = createPlan(table, options)
  if (canAsk) {
    let answers: Answers = []
    for (let asked = await askPlan(plan); asked.length > 0; asked = await askPlan(plan)) {
      answers = [...answers, ...asked]
      plan = createPlan(table, addAnswers(options, answers))
    }
    if (answers.length > 0) note(`The same without questions:\n  ${toCommand(answers)}`)
  }
  if (hasQuestions(plan)) throw explain(plan, table.file)
  return plan
}

function addAnswers(options: PlanOptions, answers: Answers): PlanOptions {
  const select = (option: string) => answers.filter(([name]) => name === option).map(([, value]) => value)
  return {
    ...options,
    statusColumns: [...(options.statusColumns ?? []), ...select('--status-column')],
    ignoreColumns: [...(options.ignoreColumns ?? []), ...select('--ignore-column')],
    dateColumn: select('--date-column')[0] ?? options.dateColumn,
    treat: new Map([...(options.treat ?? []), ...parseTreatments(select('--treat'))]),
  }
}

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

/** Asks every question of a plan. @throws Failure when the person stops */
async function askPlan(plan: Plan): Promise<Answers> {
  const { suspects, possibleDates } = plan
  if (!hasQuestions(plan) && possibleDates.length === 0) return []
  return await askPerson('stopped: nothing was imported', async (ask) => {
    const answers: (readonly [string, string])[] = []
    for (const suspect of suspects) answers.push(...(await askColumn(suspect, ask)))
    for (const { column, key, text } of groupValues(plan)) {
      const status = await askStatus(`${quote(column)}: what does ${text} mean?`, undefined, ask)
      answers.push(['--treat', `${column}:${key}=${status}`])
    }
    for (const column of possibleDates) {
      const answer = await ask(`${quote(column)} has only dates. Is it the date of the subscription? [Y/n]`)
      if (!isNo(answer)) return [...answers, ['--date-column', column]]
    }
    return possibleDates.length > 0 ? [...answers, ['--date-column', 'none']] : answers
  })
}

const findAnswer = (text: string) => findFlag(toPlainValue(text))
const isNo = (answer: string) => findAnswer(answer) === 'no'

async function askColumn(suspect: SuspectColumn, ask: Ask): Promise<Answers> {
  const { column, values, empty } = suspect
  const answer = await ask(`${describe(suspect)}. Does it say who left? [y/N]`)
  if (findAnswer(answer) !== 'yes') return [['--ignore-column', column]]
  const answers: (readonly [string, string])[] = [['--status-column', column]]
  const shown = values?.map(([value]) => value) ?? []
  const known = values && values.length <= MAX_SHOWN && !shown.includes(A_DATE) ? shown : ['*']
  for (const value of [...known.filter((value) => !saysLeft(value)), ...(empty > 0 ? [''] : [])]) {
    const text = value === '*' ? 'any other value' : value === '' ? 'an empty cell' : quote(value)
    const status = await askStatus(`  What does ${text} mean?`, findUsual(suspect, value), ask)
    answers.push(['--treat', `${column}:${toArgument(value)}=${status}`])
  }
  return answers
}

/** What a value of a column that says who left usually means. */
function findUsual({ values, left, isConsent }: SuspectColumn, value: string): Status {
  const isNothing = value === '' || isNo(value)
  if (isConsent) return isNothing ? 'skip' : 'subscribed'
  // Beside a word such as "subscribed", nothing else means it.
  if (values?.some(([other]) => findWord(other) === 'subscribed')) return findWord(value) ?? 'skip'
  return left !== undefined || isNothing ? 'subscribed' : 'suppressed'
}

const findWord = (value: string) => WORDS.get(toPlainValue(value))

const CHOICES: readonly Status[] = ['subscribed', 'suppressed', 'skip']

async function askStatus(question: string, usual: Status | undefined, ask: Ask): Promise<Status> {
  const end = usual ? ` [${CHOICES.indexOf(usual) + 1}]` : ''
  while (true) {
    const answer = await ask(`${question} 1 subscribed, 2 left, 3 neither${end}`)
    const status = answer === '' ? usual : CHOICES[Number(answer) - 1]
    if (status) return status
  }
}

/** Prints what a plan asks, and the commands that answer it. Returns the error. */
function explain(plan: Plan, file: string): Failure {
  const { suspects } = plan
  for (const suspect of suspects) note(`${file}: a column may say who left: ${escapeControls(describe(suspect))}`)
  const unknown = groupValues(plan)
  for (const { column, text, line } of unknown) {
    note(escapeControls(`${file}: line ${line}: ${text} in the column ${quote(column)} is not a known status`))
  }
  const skip = unknown.map(({ column, key }) => ['--treat', `${column}:${key}=skip`] as const)
  if (skip.length > 0) note('For each value, use =subscribed, =suppressed (the person left) or =skip (neither) below.')
  const ignore = suspects.map(({ column }) => ['--ignore-column', column] as const)
  const [first] = suspects
  if (first) note(`If ${suspects.length === 1 ? 'it does' : 'they do'} not say who left:`)
  note(`  ${toCommand([...skip, ...ignore])}`)
  if (first) noteReadings(first, (answers) => toCommand([...skip, ...answers, ...ignore.slice(1)]))
  return new Failure(`${file}: nothing was imported: only you know who left`)
}

/** Prints a command for each way to read a column that says who left. */
function noteReadings(suspect: SuspectColumn, toCommand: (answers: Answers) => string): void {
  const { column, values = [], isConsent } = suspect
  const any = findUsual(suspect, '*')
  const known = values.map(([value]) => value)
  const noteReading = (meaning: string, status: Status, treated: readonly string[]) => {
    const treat = treated.map((value) => ['--treat', `${column}:${toArgument(value)}=${status}`] as const)
    note(`If ${quote(column)} does${meaning}:`)
    note(`  ${toCommand([['--status-column', column], ...treat])}`)
  }
  if (any === 'skip') noteReading('', any, [...known.filter((value) => !findWord(value) && !saysLeft(value)), ''])
  if (any === 'subscribed') noteReading('', any, isConsent ? ['*'] : ['*', ''])
  if (any === 'suppressed') noteReading(', and any value but no means that the person left', any, ['*'])
  const isQuestion = known.some(isNo) && known.every(findAnswer)
  if (any === 'suppressed' && isQuestion) noteReading(', and yes means a subscription', 'subscribed', ['*'])
}

/** Most values of a column that are shown, or asked for. */
const MAX_SHOWN = 5

/** Such as `"VIP": "yes" 12, empty 108`. */
function describe({ column, values, left, empty }: SuspectColumn): string {
  const sorted = values?.toSorted(([, one], [, other]) => other - one) ?? []
  const shown = sorted.slice(0, MAX_SHOWN).map(([value, rows]) => `${value === A_DATE ? value : quote(value)} ${rows}`)
  const hidden = sorted.slice(MAX_SHOWN)
  const parts = [
    ...(left !== undefined && (!values || hidden.some(([value]) => value === left)) ? [quote(left)] : []),
    ...shown,
    ...(values ? [] : ['many other values']),
    ...(hidden.length > 0 ? [toCount(hidden.length, 'other value')] : []),
    ...(empty > 0 ? [`empty ${empty}`] : []),
  ]
  return `${quote(column)}: ${parts.join(', ')}`
}

/** The unknown values of each column. When there are many, or one is long, all but the empty one and no are `*`. */
function groupValues({ values }: Plan) {
  const columns = Map.groupBy(
    values.filter(({ status }) => !status),
    ({ column }) => column,
  )
  const toKey = ({ column, value }: CountedValue) => {
    const isShown = value.length <= MAX_TEXT && (columns.get(column)?.length ?? 0) <= MAX_SHOWN
    return isShown || value.trim() === '' || isNo(value) ? toArgument(value) : '*'
  }
  return [...columns].flatMap(([column, unknown]) =>
    [...Map.groupBy(unknown, toKey)].map(([key, found]) => {
      const rows = found.reduce((sum, value) => sum + value.rows, 0)
      const text = `${quote(found[0]?.value ?? '')}${key === '*' ? ' or another value' : ''} (${toCount(rows, 'row')})`
      return { column, key, line: found[0]?.line, text }
    }),
  )
}

/** Most characters of a text that are shown. */
const MAX_TEXT = 60

const quote = (text: string) => JSON.stringify(text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text)

/** A value in a command. Values are compared without spaces and punctuation. */
function toArgument(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
}

/** The command of this process with more options, for a POSIX shell. */
function toCommand(answers: Answers): string {
  const words = ['rollcall', ...process.argv.slice(2), ...answers.flat()]
  return words.map((word) => (/^[\w@%+:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ')
}
