/** The command line as a whole: help, usage errors, and the list that the commands work on. */

import { expect, test } from 'bun:test'
import { readdir } from 'node:fs/promises'
import { version } from '../package.json' with { type: 'json' }
import { createCliFixture } from './support/cli-fixture.ts'

const VERBS = [
  'serve',
  'count',
  'has',
  'export',
  'import',
  'remove',
  'copy',
  'status',
  'backup',
  'restore',
  'doctor',
  'healthcheck',
]

test('the help lists every verb', async () => {
  const { print } = await createCliFixture()
  const help = await print(['--help'])
  for (const verb of VERBS) expect(help).toContain(`\n  ${verb} `)
})

test.each(VERBS)('the help of %s has an example, and every text begins with a capital letter', async (verb) => {
  const { print } = await createCliFixture()
  const help = await print([verb, '--help'])
  expect(help).toContain(`rollcall ${verb}`)
  const texts = help.split('\n').flatMap((line) => /^ {2}\S.*? {2,}(.*)/.exec(line)?.[1] ?? [])
  expect(texts).not.toBeEmpty()
  expect(texts.filter((text) => !/^[A-Z]/.test(text))).toEqual([])
})

test.each([
  [['exprot'], 'Did you mean export?'],
  [['export', '--formt', 'csv'], 'Did you mean --format?'],
  [['import', 'list.csv', '--column'], 'argument missing'],
  [['import', 'list.csv', 'list2.csv'], 'too many arguments'],
  [[], 'Usage: rollcall'],
  [['nope', '--help'], "unknown command 'nope'"],
  [['help', 'nope'], "unknown command 'nope'"],
  [['add', 'ada@site.io'], 'echo ADDRESS | rollcall import -'],
  [['subscribe'], 'echo ADDRESS | rollcall import -'],
  [['delete'], 'use: rollcall remove ADDRESS'],
  [['unsubscribe', '--help'], 'use: rollcall remove ADDRESS'],
  [['list'], 'use: rollcall export'],
  [['-v'], 'use: rollcall --version'],
  [['export', '--out='], 'the value of --out is empty'],
  [['export', '--cursor-file', '', '--exec', 'cat'], 'the value of --cursor-file is empty'],
  [['import', ''], 'an argument is empty'],
  [['import', 'list.csv', '--rejected', ''], 'empty'],
  [['copy', '--from', '', '--to', 'sqlite:c.db'], 'the value of --from is empty'],
])('%j is a usage error: exit code 2', async (args, message) => {
  const { run } = await createCliFixture()
  const { code, stdout, stderr } = await run(args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(message)
  if (args.length > 0) expect(stderr).toStartWith('rollcall: ')
})

test.each([[['count']], [['has', 'a@b.io']], [['export']], [['status']], [['remove', 'a@b.io']], [['backup', 'b.db']]])(
  '%j does not create a list that is missing',
  async (args) => {
    const { folder, run } = await createCliFixture()
    expect(await run([...args, '--list', 'sqlite:none/list.db'])).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^rollcall: .*there is no list at .*none\/list\.db\n$/),
    })
    expect(await readdir(folder)).toEqual([])
  },
)

test('the version', async () => {
  const { print } = await createCliFixture()
  expect([await print(['--version']), await print(['-V'])]).toEqual([`${version}\n`, `${version}\n`])
})

test('an invalid --list is a usage error that does not show a password', async () => {
  const { run } = await createCliFixture()
  const { code, stderr } = await run(['count', '--list', 'mysql://user:secret@host/db'])
  expect(code).toBe(2)
  expect(stderr).toStartWith('rollcall: --list is "mysql:')
  expect(stderr).not.toContain('secret')
})

test('what comes from outside is escaped: controls up to U+009F, and marks that change the direction of text', async () => {
  const { run } = await createCliFixture()
  const { stderr } = await run(['count', '--list', 'sqlite:a\u009b31m\u202eb.db', '--x\u001b[31m'])
  expect(stderr).toContain('--x\\u001b[31m')
  const missing = await run(['count', '--list', 'sqlite:a\u009b31m\u202eb.db'])
  expect(missing.stderr).toContain('a\\u009b31m\\u202eb.db')
  const json = await run(['doctor', '--json', '--list', 'sqlite:a\u202eb.db'])
  expect(json.stdout).toContain('a\\u202eb.db')
  expect(JSON.parse(json.stdout).list).toBe('sqlite:a\u202eb.db')
})
