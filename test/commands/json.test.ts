/** `--json`: one object on standard output, in a shape that docs/cli.md describes. */

import { expect, test } from 'bun:test'
import { z } from 'zod'
import { createCliFixture } from '../support/cli-fixture.ts'
import { readText } from '../support/markdown.ts'

const count = z.int().nonnegative()
const date = z.iso.datetime()
const names = z.array(z.string())

/** Members that are numbers. */
const counts = (...members: string[]) => Object.fromEntries(members.map((member) => [member, count]))
const COUNT = counts('subscribers', 'reserved', 'suppressed')
const STATE = z.enum(['subscribed', 'suppressed', 'absent'])
const MEANING = z.enum(['subscribed', 'suppressed', 'skip'])
const CONTENT = z.strictObject({ ...COUNT, last_accepted_at: date.nullable(), inbox: count })

/** One line on standard output. */
const OUTPUTS = {
  count: z.strictObject(COUNT),
  has: z.strictObject({
    state: STATE,
    email: z.string().nullable(),
    subscribed_at: date.nullable(),
    suppressed_at: date.nullable(),
    seq: count.nullable(),
  }),
  import: z.strictObject({
    list: z.string(),
    created: z.boolean(),
    ...counts('added', 'already_listed', 'left_out', 'suppressed', 'removed', 'kept'),
    ...counts('rows', 'skipped', 'rejected', 'empty'),
    would: z.strictObject(counts('added', 'already_listed', 'left_out', 'suppressed', 'removed', 'kept')),
    rejected_rows: z.array(z.strictObject({ line: count, reason: z.string(), cell: z.string() })),
    rejected_file: z.string().nullable(),
    columns: z.strictObject({ email: names, date: names, status: names, unread: names }),
    statuses: z.array(z.strictObject({ column: z.string(), value: z.string(), status: MEANING, rows: count })),
    dates: z.strictObject({ first: date, last: date }).nullable(),
    doubts: names,
  }),
  remove: z.strictObject({
    list: z.string(),
    ...counts('removed', 'suppressed', 'absent'),
    addresses: z.array(z.strictObject({ email: z.string(), was: STATE, state: STATE })),
  }),
  copy: z.strictObject({ from: z.string(), to: z.string(), ...COUNT }),
  status: z.strictObject({
    list: z.string(),
    ...COUNT,
    last_accepted_at: date.nullable(),
    imported: count,
    days: z.array(z.strictObject({ date: z.iso.date(), added: count, total: count })),
    bytes: count,
    free_bytes: count.nullable(),
    writable: z.boolean(),
    problem: z.string().nullable(),
  }),
  backup: z.strictObject({ list: z.string(), file: z.string(), subscribers: count }),
  restore: z.strictObject({
    file: z.string(),
    list: z.string(),
    dry_run: z.boolean(),
    kept_files: names,
    before: CONTENT.nullable(),
    after: CONTENT,
  }),
  doctor: z.strictObject({
    list: z.string().nullable(),
    ok: z.boolean(),
    checks: z.array(z.strictObject({ check: z.string(), ok: z.boolean().nullable(), message: z.string() })),
  }),
}

const LIST = 'email,created_at,status\na@site.io,2020-01-02,active\nb@site.io,,active\nc@site.io,,unsubscribed\n'

const COMMANDS: readonly (readonly [verb: keyof typeof OUTPUTS, args: readonly string[]])[] = [
  ['import', ['import', '-', '--dry-run']],
  ['import', ['import', '-']],
  ['import', ['import', '-', '--yes']],
  ['count', ['count']],
  ['has', ['has', 'a@site.io']],
  ['has', ['has', 'c@site.io']],
  ['has', ['has', 'nobody@site.io']],
  ['status', ['status']],
  ['copy', ['copy', '--from', 'sqlite:list.db', '--to', 'sqlite:copy.db']],
  ['backup', ['backup', 'b.db']],
  ['restore', ['restore', 'b.db', '--dry-run']],
  ['doctor', ['doctor']],
  ['remove', ['remove', 'a@site.io', 'nobody@site.io']],
  ['remove', ['remove', '--forget', 'a@site.io', 'b@site.io', 'c@site.io']],
  // The list is empty now.
  ['status', ['status']],
]

test('every output has its shape: no member is missing, and none is new', async () => {
  const { run } = await createCliFixture()
  for (const [verb, args] of COMMANDS) {
    const { stdout } = await run([...args, '--json'], `${LIST}nobody,,active\n`)
    expect(stdout, args.join(' ')).toMatch(/^\{.*\}\n$/)
    OUTPUTS[verb].parse(JSON.parse(stdout))
  }
})

test('every verb with --json has a shape', async () => {
  const { print } = await createCliFixture()
  const verbs = [...(await print(['--help'])).matchAll(/^ {2}([a-z]+) \[options\]/gm)].map(([, verb = '']) => verb)
  const helps = await Promise.all(verbs.map((verb) => print([verb, '--help'])))
  const withJson = verbs.filter((_, index) => helps[index]?.includes('--json'))
  expect(withJson.toSorted()).toEqual(Object.keys(OUTPUTS).toSorted())
})

test('docs/cli.md describes every member, by verb', () => {
  const section = /\n## JSON\n.*?\n## /s.exec(readText('docs/cli.md'))?.[0] ?? ''
  const rows = section.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)
  const described = Object.fromEntries(
    [...rows].map(([, verb = '', members = '']) => [
      verb,
      [...members.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort(),
    ]),
  )
  // The guide shows a whole object of an import.
  const [, object = '{}'] = /```json\n(.*?)```/s.exec(section) ?? []
  described.import = Object.keys(JSON.parse(object)).sort()
  const expected = Object.entries(OUTPUTS).map(([verb, { shape }]) => [verb, Object.keys(shape).sort()] as const)
  expect(described).toEqual(Object.fromEntries(expected))
})
