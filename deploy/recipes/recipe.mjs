/**
 * What the recipes share. A recipe reads the subscribers of one batch as NDJSON on its standard input, tells its tool about
 * them, and exits with 0 only when the tool has answered for each. Otherwise Rollcall hands the same batch over again.
 *
 * What the tool says of an address is its outcome:
 *
 *   added    it is on the list of the tool
 *   known    it was there before
 *   left     the tool knows that this person left, and keeps them away. NAME.left has the address
 *   refused  the tool will never take it. NAME.refused has the address and the reason
 *   later    the tool does not take it now. NAME.later has the address, which the next run tries first
 *
 * The files are written when the whole batch has an outcome, so a repeat finds the same ones. All files are in the working
 * folder; NAME.json has the settings and the secret.
 */

import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

/** Milliseconds that a request may take. */
const TIMEOUT_MS = 30_000

/** How many people a request of a tool may name, for tools that take one at a time. */
const ONE = 1

/**
 * Runs a recipe, and ends the process: exit code 0 when the batch is handed over, 1 otherwise, with one line on standard error.
 *
 * @param name of the recipe and of its files
 * @param {(settings: object) => { check?: () => Promise<void>, size?: number, send: Function }} create checks the settings.
 *   `check` asks the tool before the first request. `send` gets up to `size` subscribers, and returns a list with
 *   `{ outcome, reason }` for each. An error of theirs ends the run.
 */
export async function runRecipe(name, create) {
  process.umask(0o077)
  let people = []
  try {
    const { check, size = ONE, send } = create(readSettings(`${name}.json`))
    const lines = [...readLines(`${name}.later`).map((email) => JSON.stringify({ email })), ...readLines(0)]
    people = toUnique(lines.map((line) => JSON.parse(line)))
    await check?.()
    const results = []
    for (let start = 0; start < people.length; start += size) {
      const batch = people.slice(start, start + size)
      const answers = await send(batch)
      for (const [index, { email }] of batch.entries()) results.push({ email, ...answers[index] })
    }
    writeOutcomes(name, results)
  } catch (error) {
    console.error(`${name}: ${hideAddresses(toReason(error), people)}`)
    process.exit(1)
  }
}

/**
 * Sends a request with JSON, and returns the status and the parsed response.
 *
 * @param expected the statuses that the caller handles, by default 200 to 299
 * @throws Error for any other status, with the reason of the tool
 */
export async function request(method, url, { headers = {}, body, expected } = {}) {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
    body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'error',
  })
  const text = await response.text()
  const isExpected = expected ? expected.includes(response.status) : response.ok
  if (!isExpected) throw new Error(`${new URL(url).host} answered ${response.status}: ${toLine(text)}`)
  return { status: response.status, data: parse(text) }
}

/** An address that the next run tries first may be in its batch too. */
function toUnique(people) {
  return [...new Map(people.map((person) => [person.email.toLowerCase(), person])).values()]
}

/** Shortens what a tool says to one line. */
export function toLine(text) {
  return String(text).replace(/\s+/g, ' ').trim().slice(0, 200)
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
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(error.code === 'ENOENT' ? `there is no ${file} in this folder` : `${file} is not JSON`)
  }
}

/** The lines of a file that may be missing, or of the standard input. */
function readLines(file) {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean)
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
}

/** Writes the addresses of each outcome to its file, each once, and says how many there are. */
function writeOutcomes(name, results) {
  const find = (outcome) => results.filter((result) => result.outcome === outcome)
  const refused = find('refused')
  // Then the reason is a setting, not the people.
  if (refused.length > 1 && refused.length === results.length)
    throw new Error(`all ${refused.length} addresses were refused: ${refused[0].reason}`)
  append(`${name}.left`, find('left'), ({ email }) => email)
  append(`${name}.refused`, refused, ({ email, reason }) => `${email}\t${reason}`)
  const later = find('later').map(({ email }) => `${email}\n`)
  if (later.length > 0) writeFileSync(`${name}.later`, later.join(''))
  else rmSync(`${name}.later`, { force: true })
  const counts = ['added', 'known', 'left', 'refused', 'later'].map((outcome) => `${find(outcome).length} ${outcome}`)
  console.error(`${name}: ${counts.filter((count) => !count.startsWith('0 ')).join(', ') || 'nobody'}`)
}

function append(file, results, toText) {
  const there = new Set(readLines(file).map((line) => line.split('\t')[0]))
  const lines = results.filter(({ email }) => !there.has(email)).map((result) => `${toText(result)}\n`)
  if (lines.length > 0) appendFileSync(file, lines.join(''))
}

/** The reason of a failed request is in its cause. */
function toReason(error) {
  return toLine(error.cause?.code ?? error.cause?.message ?? error.message)
}

/** A log must not have addresses. */
function hideAddresses(text, people) {
  return people.reduce((line, { email }) => line.replaceAll(email, '…').replaceAll(email.toLowerCase(), '…'), text)
}

/** The JSON of a response, or its text. */
function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
