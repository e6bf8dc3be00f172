/**
 * Hands over to a program that knows only members, such as Mailman, mlmmj and Sympa: with one command that adds those on its
 * standard input, an address on each line, and one that prints all members. Commands may skip an address without an error, so the
 * members afterwards say who was added. Who was handed over and is no member now has left.
 *
 * members.json: { "add": "mailman addmembers - news@lists.example.org", "list": "mailman members news@lists.example.org" }
 */

import { spawnSync } from 'node:child_process'
import { PLAIN_ADDRESS, readLines, requireSettings, runRecipe, toLine } from './recipe.mjs'

/** Milliseconds that a command may take. */
const TIMEOUT_MS = 300_000

/** Most people who may leave between two runs: more than this part of all, and more than a few, is a list that was lost. */
const MOST_GONE = { part: 0.1, people: 10 }

await runRecipe('members', (settings) => {
  requireSettings(settings, { add: 'string', list: 'string' })

  /** Lists the members, in lower case. A line may have more than the address. @throws Error when the command fails */
  function listMembers() {
    const { status, stdout, reason } = run(settings.list)
    if (status !== 0) throw new Error(`the command "list" ended with ${status}: ${reason}`)
    return new Set(
      stdout
        .toLowerCase()
        .split(/[\s<>,;"]+/)
        .filter((word) => PLAIN_ADDRESS.test(word)),
    )
  }

  /** Adds people, whose addresses are never an argument of a shell: a stranger has typed them. */
  const addAll = (people) => run(settings.add, people.map(({ email }) => `${email}\n`).join(''))

  return {
    size: Number.POSITIVE_INFINITY,
    async send(people) {
      const isIn = (members) => (person) => members.has(person.email.toLowerCase())
      const isKnown = isIn(listMembers())
      const others = people.filter((person) => !isKnown(person))
      const reasons = new Map()
      if (others.length > 0) {
        addAll(others)
        const isThere = isIn(listMembers())
        // A command that ends at the first address that it refuses has not tried the ones after it.
        for (const person of others.filter((one) => !isThere(one))) reasons.set(person, addAll([person]))
      }
      const isMember = isIn(listMembers())
      const failed = others.find((person) => !isMember(person) && reasons.get(person)?.status !== 0)
      if (failed && !people.some(isMember))
        throw new Error(`the command "add" added nobody: ${reasons.get(failed).reason}`)
      return people.map((person) => {
        if (isKnown(person)) return { outcome: 'known' }
        if (isMember(person)) return { outcome: 'added' }
        return { outcome: 'refused', reason: reasons.get(person)?.reason || 'it is no member afterwards' }
      })
    },
    async left() {
      // First the cursor, and the members last: whoever is handed over meanwhile is a member, or not among those who were.
      const [cursor = '0'] = readLines('members.cursor').join('').split(' ')
      const refused = new Set(readLines('members.refused').map((line) => line.split('\t')[0].toLowerCase()))
      const people = listHandedOver(Number(cursor)).filter((email) => !refused.has(email))
      const members = listMembers()
      const gone = people.filter((email) => !members.has(email))
      if (
        gone.length > MOST_GONE.people &&
        gone.length > people.length * MOST_GONE.part &&
        !process.argv.includes('all')
      ) {
        throw new Error(
          `${gone.length} of ${people.length} people are no members now: if they left, hand them back with the mode "left all"`,
        )
      }
      return gone
    },
  }
})

/** Lists who was handed over, in lower case. */
function listHandedOver(cursor) {
  const { status, stdout, reason } = run('exec "$ROLLCALL" export --format ndjson')
  if (status !== 0) throw new Error(`the export ended with ${status}: ${reason}`)
  const people = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  return people.filter(({ seq }) => seq <= cursor).map(({ email }) => email.toLowerCase())
}

/** Runs a command of the shell. The reason is the last line of what it said. */
function run(command, input = '') {
  const { status, signal, stdout, stderr, error } = spawnSync('/bin/sh', ['-c', command], {
    input,
    // `sync` says which program it is.
    env: { ROLLCALL: 'rollcall', ...process.env },
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    maxBuffer: Number.POSITIVE_INFINITY,
  })
  // A command may end before it has read all.
  if (error && error.code !== 'EPIPE') throw error
  const [line = ''] = `${stdout}${stderr}`.split('\n').filter(Boolean).slice(-1)
  return { status: status ?? signal, stdout, reason: toLine(line) }
}
