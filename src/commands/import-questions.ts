/** Settles the plan of an import: the owner answers its questions on a terminal. Otherwise it stops once, with commands. */

import { Failure, UsageError } from '../failure.ts'
import { A_DATE, type Evidence } from '../transfer/reading/evidence.ts'
import { type CountedValue, createPlan, hasQuestions, type Plan, type PlanOptions } from '../transfer/reading/plan.ts'
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
  let answers: Answers = []
  while (canAsk && (hasQuestions(plan) || plan.possibleDates.length > 0)) {
    answers = [...answers, ...(await askPlan(plan))]
    plan = createPlan(table, addAnswers(options, answers))
  }
  if (answers.length > 0) note(`The same without questions:\n  ${toCommand(answers)}`)
  if (hasQuestions(plan)) throw explain(plan, table.file)
  return plan
}

function addAnswers(options: PlanOptions, answers: Answers): PlanOptions {
  const select = (option: string) => answers.filter(([name]) => name === option).map(([, value]) => value)
  return {
    ...options,
    statusColumn: [...(options.statusColumn ?? []), ...select('--status-column')],
    ignoreColumn: [...(options.ignoreColumn ?? []), ...select('--ignore-column')],
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
  return await askPerson('stopped: nothing was imported', async (ask) => {
    const answers: Answers[number][] = []
    for (const suspect of plan.suspects) answers.push(...(await askColumn(suspect, ask)))
    for (const { column, key, text } of groupUnknown(plan)) {
      const status = await askStatus(`${quote(column)}: what does ${text} mean?`, undefined, ask)
      answers.push(toTreatment(column, key, status))
    }
    for (const column of plan.possibleDates) {
      const answer = await ask(`${quote(column)} has only dates. Is it the date of the subscription? [Y/n]`)
      if (!isNo(answer)) return [...answers, ['--date-column', column]]
    }
    return plan.possibleDates.length > 0 ? [...answers, ['--date-column', 'none']] : answers
  })
}

/** Prints what a plan asks, and the commands that answer it. Returns the error. */
function explain(plan: Plan, file: string): Failure {
  const unknown = groupUnknown(plan)
  const [first, ...others] = plan.suspects
  for (const suspect of plan.suspects) note(`${file}: a column may say who left: ${describe(suspect)}`)
  for (const { column, text, line } of unknown) {
    note(`${file}: line ${line}: ${text} in the column ${quote(column)} is not a known status`)
  }
  const skip = unknown.map(({ column, key }) => toTreatment(column, key, 'skip'))
  const ignore = plan.suspects.map(({ column }) => ['--ignore-column', column.option] as const)
  if (skip.length > 0) note('For each value, use =subscribed, =suppressed (the person left) or =skip (neither) below.')
  if (first) note(`If ${others.length === 0 ? 'it does' : 'they do'} not say who left:`)
  note(`  ${toCommand([...skip, ...ignore])}`)
  if (first) {
    for (const [meaning, answers] of toReadings(first)) {
      note(`If ${quote(first.column.option)} does${meaning}:`)
      note(`  ${toCommand([...skip, ...answers, ...ignore.slice(1)])}`)
    }
  }
  return new Failure(`${file}: nothing was imported: only you know who left`)
}

/** The unknown values of each column. When there are many, or one is long, all but the empty one and no are `*`. */
function groupUnknown({ values }: Plan) {
  const columns = Map.groupBy(
    values.filter(({ status }) => !status),
    ({ column }) => column,
  )
  return [...columns].flatMap(([column, unknown]) => {
    const toKey = ({ value }: CountedValue) => {
      const isShown = value.length <= MAX_TEXT && unknown.length <= MAX_SHOWN
      return isShown || value.trim() === '' || isNo(value) ? value : '*'
    }
    return [...Map.groupBy(unknown, toKey)].map(([key, found]) => {
      const rows = found.reduce((sum, value) => sum + value.rows, 0)
      const text = `${quote(found[0]?.value ?? '')}${key === '*' ? ' or another value' : ''} (${toCount(rows, 'row')})`
      return { column, key, line: found[0]?.line, text }
    })
  })
}

const findAnswer = (text: string) => findFlag(toPlainValue(text))
const isNo = (answer: string) => findAnswer(answer) === 'no'
const findWord = (value: string) => WORDS.get(toPlainValue(value))

async function askColumn(suspect: Evidence, ask: Ask): Promise<Answers> {
  const { values, empty } = suspect
  const column = suspect.column.option
  const answer = await ask(`${describe(suspect)}. Does it say who left? [y/N]`)
  if (findAnswer(answer) !== 'yes') return [['--ignore-column', column]]
  const answers: Answers[number][] = [['--status-column', column]]
  const shown = values?.map(([value]) => value) ?? []
  const known = values && values.length <= MAX_SHOWN && !shown.includes(A_DATE) ? shown : ['*']
  for (const value of [...known.filter((value) => !saysLeft(value)), ...(empty > 0 ? [''] : [])]) {
    const text = value === '*' ? 'any other value' : value === '' ? 'an empty cell' : quote(value)
    const status = await askStatus(`  What does ${text} mean?`, findUsual(suspect, value), ask)
    answers.push(toTreatment(column, value, status))
  }
  return answers
}

const CHOICES: readonly Status[] = ['subscribed', 'suppressed', 'skip']

async function askStatus(question: string, usual: Status | undefined, ask: Ask): Promise<Status> {
  const end = usual ? ` [${CHOICES.indexOf(usual) + 1}]` : ''
  while (true) {
    const answer = await ask(`${question} 1 subscribed, 2 left, 3 neither${end}`)
    const status = answer === '' ? usual : CHOICES[Number(answer) - 1]
    if (status) return status
  }
}

/** What a value of a column that says who left usually means. */
function findUsual({ values, left, isConsent }: Evidence, value: string): Status {
  const isNothing = value === '' || isNo(value)
  if (isConsent) return isNothing ? 'skip' : 'subscribed'
  // Beside a word such as "subscribed", nothing else means it.
  if (values?.some(([other]) => findWord(other) === 'subscribed')) return findWord(value) ?? 'skip'
  return left !== undefined || isNothing ? 'subscribed' : 'suppressed'
}

/** The ways to read a column that says who left, each with what it means. */
function toReadings(suspect: Evidence): readonly (readonly [meaning: string, Answers])[] {
  const { values = [], isConsent } = suspect
  const column = suspect.column.option
  const known = values.map(([value]) => value)
  const toAnswers = (status: Status, treated: readonly string[]): Answers => [
    ['--status-column', column],
    ...treated.map((value) => toTreatment(column, value, status)),
  ]
  const usual = findUsual(suspect, '*')
  const unknown = known.filter((value) => !findWord(value) && !saysLeft(value))
  if (usual === 'skip') return [['', toAnswers(usual, [...unknown, ''])]]
  if (usual === 'subscribed') return [['', toAnswers(usual, isConsent ? ['*'] : ['*', ''])]]
  const left = [', and any value but no means that the person left', toAnswers(usual, ['*'])] as const
  const isQuestion = known.some(isNo) && known.every(findAnswer)
  return isQuestion ? [left, [', and yes means a subscription', toAnswers('subscribed', ['*'])]] : [left]
}

/** Most values of a column that are shown, or asked for. */
const MAX_SHOWN = 5

/** Such as `"VIP": "yes" 12, empty 108`. */
function describe({ column, values, left, empty }: Evidence): string {
  const sorted = values?.toSorted(([, one], [, other]) => other - one) ?? []
  const shown = sorted.slice(0, MAX_SHOWN)
  const hidden = sorted.length - shown.length
  const parts = [
    left !== undefined && !shown.some(([value]) => value === left) && quote(left),
    ...shown.map(([value, rows]) => `${value === A_DATE ? value : quote(value)} ${rows}`),
    !values && 'many other values',
    hidden > 0 && toCount(hidden, 'other value'),
    empty > 0 && `empty ${empty}`,
  ]
  return `${quote(column.option)}: ${parts.filter(Boolean).join(', ')}`
}

/** Most characters of a text that are shown. */
const MAX_TEXT = 60

const quote = (text: string) => JSON.stringify(text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text)

/** Values are compared without spaces and punctuation, so a line break becomes a space. */
function toTreatment(column: string, value: string, status: Status): Answers[number] {
  return ['--treat', `${column}:${value.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')}=${status}`]
}

/** The command of this process with more options, for a POSIX shell. */
function toCommand(answers: Answers): string {
  const words = ['rollcall', ...process.argv.slice(2), ...answers.flat()]
  return words.map((word) => (/^[\w@%+:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ')
}
