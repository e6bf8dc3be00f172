/**
 * What the recipes share. A recipe works in the folder with NAME.json, which has its settings and the secret, and has two modes:
 *
 *   node NAME.mjs        tells the tool about new people: subscribers of one batch, as NDJSON on standard input. It exits with 0 only
 *                        when the tool has answered for each. Otherwise Rollcall hands the same batch over again
 *   node NAME.mjs left   prints who is unsubscribed, bounced or complained in the tool now, as NDJSON on standard output. A failure
 *                        prints nobody
 *
 * What the tool says of a new address is its outcome:
 *
 *   added    it is on the list of the tool
 *   known    it was there before
 *   left     the tool knows that this person left, and keeps them away. NAME.left has the address, until they are back there
 *   refused  the tool does not take it. NAME.refused has the address and the reason
 *
 * One person never stops the others: an error of one is tried again after the rest of the batch, and then it is a refusal. An error
 * of all, and of a tool that is down, stops the run. NAME.done has the numbers of those in an unfinished batch who have an outcome,
 * so the repeat goes on with the rest.
 */

import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'

/** Milliseconds that a request may take. */
const TIMEOUT_MS = 30_000

/** How many people a request of a tool may name, for tools that take one at a time. */
const ONE = 1

/** Statuses after which no other request helps now: a wrong key, and a rate limit. */
const STOPS = [401, 429]

/** Statuses of a tool that is down: no reason to refuse a person. */
const DOWN = [502, 503, 504]

/** After so many errors in a row of a tool that is down, nobody else is tried. */
const MOST_DOWN = 3

/** The addresses that Rollcall takes (without their limits of length). Any other one could be read as several people. */
export const PLAIN_ADDRESS =
  /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z][A-Za-z0-9-]{0,61}[A-Za-z0-9]$/

/** An address in what a tool says, also in a URL. A log must not have any. */
const ADDRESS_IN_TEXT = /[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+(?:@|%40)[A-Za-z0-9.-]+/g

/**
 * Runs a recipe, and ends the process: exit code 0 when all is done, 1 otherwise, with one line on standard error.
 *
 * @param name of the recipe and of its files
 * @param {(settings: object) => { check?: () => Promise<void>, size?: number, send: Function, left?: Function }} create checks the
 *   settings. `check` asks the tool before the first request. `send` gets up to `size` subscribers, and returns a list with
 *   `{ outcome, reason }` for each. `left` returns the addresses of those who left, all of them or an error.
 */
export async function runRecipe(name, create) {
  process.umask(0o077)
  try {
    const tool = create(readSettings(`${name}.json`))
    const [mode] = process.argv.slice(2)
    if (mode === undefined) await handOver(name, tool)
    else if (mode === 'left') await printLeft(name, tool)
    else throw new Error(`there is no mode ${mode}: use "left", or none`)
  } catch (error) {
    console.error(`${name}: ${toReason(error)}`)
    process.exit(1)
  }
}

/** Tells the tool about the people of a batch, and writes down what it said. */
async function handOver(name, { check, size = ONE, send }) {
  const done = new Set(readLines(`${name}.done`))
  const batch = readLines(0).map((line) => JSON.parse(line))
  const people = batch.filter(({ seq }) => !done.has(String(seq)))
  const results = []
  try {
    await check?.()
    await sendAll(people, { size, send, results, hasSuccess: () => done.size > 0 || results.some(isTaken) })
  } catch (error) {
    if (results.some(isTaken)) {
      writeOutcomes(name, results)
      appendFileSync(`${name}.done`, results.map(({ seq }) => `${seq}\n`).join(''))
    }
    throw error
  }
  if (results.length > 1 && done.size === 0 && !results.some(isTaken)) {
    // Then the reason is a setting, not the people.
    throw new Error(`all ${results.length} addresses were refused: ${results[0].reason}`)
  }
  writeOutcomes(name, results)
  rmSync(`${name}.done`, { force: true })
  console.error(`${name}: ${toCounts(results)}`)
}

const isTaken = ({ outcome }) => outcome !== 'refused'

/** Sends people in requests of a size. Adds to `results` who has an outcome. @throws Error when it is not about one person */
async function sendAll(people, { size, send, results, hasSuccess }) {
  const failed = []
  let downInRow = 0
  async function sendOne(some) {
    const answers = await send(some)
    for (const [index, { seq, email }] of some.entries()) results.push({ seq, email, ...answers[index] })
  }
  for (let start = 0; start < people.length; start += size) {
    const some = people.slice(start, start + size)
    try {
      await sendOne(some)
      downInRow = 0
    } catch (error) {
      downInRow = error.isDown ? downInRow + 1 : 0
      if (size > ONE || error.stops || downInRow === MOST_DOWN) throw error
      failed.push(some)
    }
  }
  for (const some of failed) {
    try {
      await sendOne(some)
    } catch (error) {
      if (error.stops || error.isDown || !hasSuccess()) throw error
      results.push({ ...some[0], outcome: 'refused', reason: toReason(error) })
    }
  }
}

/** Prints who left in the tool, without those in NAME.left: they came back, and the tool still has to ask them. */
async function printLeft(name, { left }) {
  if (!left) throw new Error('it cannot tell who left')
  const people = await left()
  // Read after the tool has answered: a batch may have been handed over meanwhile.
  const back = readLines(`${name}.left`)
  const gone = new Set(people.map((email) => email.toLowerCase()))
  const rest = back.filter((email) => gone.has(email.toLowerCase()))
  // The others are on the list of the tool again. When they leave once more, they have left.
  if (rest.length < back.length) replace(`${name}.left`, rest.map((email) => `${email}\n`).join(''))
  for (const email of back) gone.delete(email.toLowerCase())
  const lines = [...gone].filter((email) => PLAIN_ADDRESS.test(email)).map((email) => `${JSON.stringify({ email })}\n`)
  writeFileSync(1, lines.join(''))
}

/**
 * Sends a request with JSON, and returns the status and the parsed response.
 *
 * @param expected the statuses that the caller handles, by default 200 to 299
 * @throws Error for any other status, with the reason of the tool. `stops`: other requests would fail too; `isDown`: the tool is down
 */
export async function request(method, url, { headers = {}, body, expected } = {}) {
  const { host } = new URL(url)
  let response
  let text
  try {
    response = await fetch(url, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: 'error',
    })
    text = await response.text()
  } catch (error) {
    // The reason of a failed request is in its cause.
    const reason = error.cause?.code ?? error.cause?.message ?? error.message
    throw Object.assign(new Error(`${host} does not answer: ${reason}`), { isDown: true })
  }
  const { status } = response
  const isExpected = expected ? expected.includes(status) : response.ok
  if (isExpected) return { status, data: parse(text) }
  const hint = status === 429 ? ' (its rate limit; the next run goes on)' : ''
  const error = new Error(`${host} answered ${status}${hint}: ${text}`)
  throw Object.assign(error, { stops: STOPS.includes(status), isDown: DOWN.includes(status) })
}

/** What a tool says in one short line, without addresses. */
export function toLine(text) {
  return String(text).replace(ADDRESS_IN_TEXT, '…').replace(/\s+/g, ' ').trim().slice(0, 200)
}

/** Throws unless each named setting has a value of its type. */
export function requireSettings(settings, types) {
  for (const [name, type] of Object.entries(types)) {
    const value = settings[name]
    const isRight = type === 'integer' ? Number.isInteger(value) : typeof value === type && value !== ''
    if (!isRight)
      throw new Error(`"${name}" in the settings must be ${type === 'integer' ? 'a whole number' : `a ${type}`}`)
  }
}

function readSettings(file) {
  let text
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') throw new Error(`there is no ${file} in this folder`)
    throw new Error(`${file} cannot be read: ${error.code}`)
  }
  const settings = parse(text)
  if (typeof settings !== 'object' || settings === null) throw new Error(`${file} is not a JSON object`)
  return settings
}

/** The lines of a file that may be missing, or of the standard input. */
export function readLines(file) {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean)
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
}

/** Writes the addresses of each outcome to its file, each once. */
function writeOutcomes(name, results) {
  const find = (outcome) => results.filter((result) => result.outcome === outcome)
  append(`${name}.left`, find('left'), ({ email }) => email)
  append(`${name}.refused`, find('refused'), ({ email, reason }) => `${email}\t${reason}`)
}

function toCounts(results) {
  const counts = ['added', 'known', 'left', 'refused'].map(
    (outcome) => `${results.filter((result) => result.outcome === outcome).length} ${outcome}`,
  )
  return counts.filter((count) => !count.startsWith('0 ')).join(', ') || 'nobody'
}

function append(file, results, toText) {
  const there = new Set(readLines(file).map((line) => line.split('\t')[0]))
  const lines = results.filter(({ email }) => !there.has(email)).map((result) => `${toText(result)}\n`)
  if (lines.length > 0) appendFileSync(file, lines.join(''))
}

/** Replaces a file, completely or not at all. */
function replace(file, text) {
  writeFileSync(`.${file}.partial`, text)
  renameSync(`.${file}.partial`, file)
}

function toReason(error) {
  return toLine(error.message)
}

/** The JSON of a response, or its text. */
function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
