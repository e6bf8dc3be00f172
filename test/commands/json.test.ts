/** `--json`: one object on standard output, in the shape that output-schemas.ts defines and docs/cli.md describes. */

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { OUTPUTS } from '../../src/commands/output-schemas.ts'
import { createCliFixture } from '../support/cli-fixture.ts'
import { readText } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'

const LIST = 'email,created_at,status\na@site.io,2020-01-02,active\nb@site.io,,active\nc@site.io,,unsubscribed\n'

const COMMANDS: readonly (readonly [verb: keyof typeof OUTPUTS, args: readonly string[]])[] = [
  ['import', ['import', '-', '--dry-run']],
  ['import', ['import', '-']],
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

test('every verb with --json has a shape', () => {
  const verbs = [...new Bun.Glob('*.ts').scanSync(join(ROOT, 'src/commands'))]
    .filter((file) => readText(`src/commands/${file}`).includes("'--json'"))
    .map((file) => file.replace('.ts', ''))
  expect(new Set(verbs)).toEqual(new Set(Object.keys(OUTPUTS)))
})

test('docs/cli.md describes every member once, with its verbs', () => {
  const verbs = new Map<string, Set<string>>()
  for (const [verb, { shape }] of Object.entries(OUTPUTS)) {
    for (const member of Object.keys(shape)) verbs.set(member, (verbs.get(member) ?? new Set()).add(verb))
  }
  const toNames = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  const section = /\n## JSON\n.*?\n## /s.exec(readText('docs/cli.md'))?.[0] ?? ''
  const rows = section.split('\n').flatMap((line) => {
    const [members, of, meaning] = line.split(' | ')
    if (meaning === undefined) return []
    return toNames(members).map((member) => [member, new Set(toNames(of))] as const)
  })
  expect(rows.length).toBe(new Map(rows).size)
  expect(new Map(rows)).toEqual(verbs)
})
