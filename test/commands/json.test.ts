/** `--json`: every output has the shape that output-schemas.ts defines and docs/cli.md describes. */

import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { z } from 'zod'
import { MESSAGE, OUTPUTS, SUMMARIES } from '../../src/commands/output-schemas.ts'
import { createCliFixture } from '../support/cli-fixture.ts'
import { readText } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'
import { until, within } from '../support/wait.ts'

/** Parses each line. The keys and types must be those of the schema; none may be missing. */
function parseLines(schema: z.ZodType, text: string): unknown[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => schema.parse(JSON.parse(line)))
}

const LIST = 'email,created_at,status\na@site.io,2020-01-02,active\nb@site.io,,active\nc@site.io,,unsubscribed\n'

const COMMANDS: readonly (readonly [verb: keyof typeof OUTPUTS, args: readonly string[], lines?: number])[] = [
  ['version', ['--version']],
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
  ['remove', ['remove', 'a@site.io', 'nobody@site.io'], 2],
  ['remove', ['remove', '--forget', '--file', 'list.csv'], 3],
  // The list is empty now.
  ['status', ['status', '--days', '1']],
]

test('every output has its shape: no member is missing, and none is new', async () => {
  const { run, write } = await createCliFixture()
  await write('list.csv', LIST)
  for (const [verb, args, lines = 1] of COMMANDS) {
    const { stdout, stderr } = await run([...args, '--json'], `${LIST}nobody,,active\n`)
    expect(parseLines(OUTPUTS[verb], stdout), args.join(' ')).toHaveLength(lines)
    parseLines(MESSAGE, stderr)
  }
})

test('every verb with --json has a shape', () => {
  const verbs = [...new Bun.Glob('*.ts').scanSync(join(ROOT, 'src/commands'))]
    .filter((file) => readText(`src/commands/${file}`).includes("'--json'"))
    .map((file) => file.replace('.ts', ''))
  expect(new Set(['version', ...verbs])).toEqual(new Set([...Object.keys(OUTPUTS), ...Object.keys(SUMMARIES)]))
})

test('docs/cli.md describes every member once, with its verbs', () => {
  const shapes = [...Object.entries(OUTPUTS), ...Object.entries(SUMMARIES)]
  const verbs = new Map<string, Set<string>>()
  for (const [verb, { shape }] of shapes) {
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

test.each([
  ['count --nope --json', 2, "unknown option '--nope'"],
  ['nope --json', 2, "unknown command 'nope'"],
  ['has --json', 2, "missing required argument 'address'"],
  ['has nobody --json', 2, 'the address'],
  ['openapi --json', 2, "unknown option '--json'"],
  ['count --json --list none', 2, '--list is'],
  ['count --json --list sqlite:none.db', 1, 'there is no list'],
  ['export --json --cursor-file none/c', 1, 'none/c'],
  ['import --json none.csv', 1, 'none.csv'],
  ['import --json l.csv --max-refused 0', 1, '1 of 2 rows were rejected'],
  ['remove --json --file l.csv', 1, '1 row without a valid address'],
  ['status --json --max-silence 1s', 1, 'the last address was accepted'],
])('%s: the last line of standard error is the error', async (command, exitCode, message) => {
  const { print, run, write } = await createCliFixture()
  await write('l.csv', 'email,date\na@site.io,2020-01-01\nnobody,\n')
  await print(['import', '-'], 'email,date\na@site.io,2020-01-01\n')
  const { code, stderr } = await run(command.split(' '))
  expect(code).toBe(exitCode)
  expect(parseLines(MESSAGE, stderr).at(-1)).toEqual({
    error: { exit_code: exitCode, message: expect.stringContaining(message) },
  })
})

test.each([
  [['import', '-']],
  [['export', '--follow', '--format', 'txt']],
  [['export', '--follow', '--cursor-file', 'c', '--exec', 'cat']],
])('%j: a signal is an error', async (args) => {
  const { start, print, folder } = await createCliFixture()
  await print(['import', '-'], 'a@site.io\n')
  const child = start([...args, '--json'])
  if (args[0] === 'export') await child.stdout.getReader().read()
  else {
    child.stdin.write(`email\nnobody\n${'a@site.io\n'.repeat(20_000)}`)
    await child.stdin.flush()
    await until(() => readdirSync(folder).some((name) => name.endsWith('.partial')), 'the file of rejected rows')
  }
  child.kill('SIGTERM')
  expect(await within(child.exited, 'the end of the command')).toBe(143)
  const messages = parseLines(MESSAGE, await child.stderr.text())
  expect(messages).toEqual([{ error: { message: 'stopped', exit_code: 143 } }])
})

test('export: the rows are on standard output, and the summary is on standard error', async () => {
  const { run, print } = await createCliFixture()
  await print(['import', '-'], '=a@site.io\nb@example.org\nc@a.test\nd@site.io\ne@a.test\n')
  const runJson = async (...args: string[]) => {
    const { stdout, stderr } = await run(['export', '--json', ...args])
    return [stdout.match(/\w@/g)?.join('') ?? '', ...parseLines(MESSAGE, stderr)]
  }
  const toSummary = (exported: number, reserved_excluded: number, formulas: number | null, cursor: number) => ({
    summary: { exported, reserved_excluded, formulas, cursor },
  })
  expect(await runJson()).toEqual(['a@d@', toSummary(2, 3, 1, 5)])
  expect(await runJson('--include-reserved', '--spreadsheet-safe')).toEqual(['a@b@c@d@e@', toSummary(5, 0, null, 5)])
  expect(await runJson('--limit', '1')).toEqual(['a@', toSummary(1, 0, 1, 1)])
  expect(await runJson('--format', 'txt', '--after', '1')).toEqual(['d@', toSummary(1, 3, null, 5)])
  expect(await runJson('--cursor-file', 'c', '--exec', 'cat')).toEqual(['a@d@', toSummary(2, 3, null, 5)])
})
