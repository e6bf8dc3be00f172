/** The command line as a whole: help, usage errors, the list that the commands work on, and what they load. */

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { createCliFixture } from './support/cli-fixture.ts'
import { ROOT } from './support/paths.ts'
import { runCommand } from './support/service.ts'

const VERBS = [
  'serve',
  'init',
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
]

test('the help lists every verb, and that of each has an example, and texts that begin with a capital letter', async () => {
  const { print } = await createCliFixture()
  const help = await print(['--help'])
  for (const verb of [...VERBS, 'healthcheck']) {
    expect(help).toContain(`\n  ${verb} `)
    const own = await print([verb, '--help'])
    expect(own).toContain(`rollcall ${verb}`)
    const texts = own.split('\n').flatMap((line) => /^ {2}\S.*? {2,}(.*)/.exec(line)?.[1] ?? [])
    expect(texts).not.toBeEmpty()
    expect(texts.filter((text) => !/^[A-Z]/.test(text))).toEqual([])
  }
})

test.each([
  ['exprot', 'Did you mean export?'],
  ['export --formt csv', 'Did you mean --format?'],
  ['import list.csv --column', 'argument missing'],
  ['import list.csv list2.csv', 'too many arguments'],
  ['export --out=', 'the value of --out is empty'],
  ['export --cursor-file  --exec cat', 'the value of --cursor-file is empty'],
  ['copy --from  --to sqlite:c.db', 'the value of --from is empty'],
  ['copy --from sqlite:list.db', 'name the list with --to or --to-file'],
  ['copy --from sqlite:list.db --to sqlite:c.db --to-file url', "'--to-file <file>' cannot be used with"],
  ['copy --from-file none.url --to sqlite:c.db', '--from-file is "none.url"'],
  ['export --cursor-file c --after 1', "cannot be used with option '--after <cursor>'"],
  ['export --after -1', '--after'],
  ['export --limit x', '--limit'],
  ['export --format xls', 'Allowed choices are csv, ndjson, txt'],
  ['export --for ghost --format txt', 'cannot be used with'],
  ['export --follow', '--follow needs --exec'],
  ['export --exec cat', '--exec needs --cursor-file'],
  ['export --exec cat --cursor-file c --out x', "cannot be used with option '--out <file>'"],
  ['export --format txt --spreadsheet-safe', '--spreadsheet-safe is for CSV'],
  ['export --batch 5 --cursor-file c', '--batch needs --exec'],
  ['export --exec cat --cursor-file c --batch 0', '--batch is 0'],
  ['import ', 'an argument is empty'],
  ['import list.csv --rejected ', 'empty'],
  ['import list.csv --rejected c --cursor-file c', '--rejected is the cursor file'],
  ['import list.csv --treat VIP', '--treat'],
  ['import list.csv --suppress --treat VIP=skip', 'cannot be used with'],
  ['import list.csv --encoding klingon', 'klingon'],
  ['remove', "missing required argument 'address'"],
  ['remove a@site.io nobody', '"nobody": the address is not valid'],
  ['has nobody', '"nobody": the address is not valid'],
  ['status --max-silence long', '--max-silence'],
  ['count --list mysql://user:secret@host/db', '--list is wrong (not shown: it may contain a password)'],
])('%j is a usage error: exit code 2, and no list is created or changed', async (command, message) => {
  const { folder, run, write } = await createCliFixture()
  await write('list.csv', 'email\na@site.io\n')
  const { code, stdout, stderr } = await run(command.split(' '))
  expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(message) })
  expect(stderr).toStartWith('rollcall: ')
  expect(stderr).not.toContain('secret')
  expect(await readdir(folder)).toEqual(['list.csv'])
})

test('an address that looks like an option is an address, wherever it stands', async () => {
  const { print, run, rows } = await createCliFixture()
  const addresses = [
    '-V@m.cc',
    '-h@x.cc',
    '--help@x.com',
    '--version@x.com',
    '--forget@m.cc',
    '--json=a@m.cc',
    '-@m.cc',
  ]
  await print(['import', '-'], `email\nbob@m.cc\n--list=a@m.cc\n${addresses.join('\n')}\n`)
  for (const address of addresses) {
    expect([address, (await run(['has', address])).stdout]).toEqual([
      address,
      expect.stringContaining(' has been on the list'),
    ])
    const removed = expect.stringContaining(`${address}: removed\n`)
    expect([address, (await run(['remove', 'bob@m.cc', address])).stdout]).toEqual([address, removed])
  }
  await print(['remove', '--', '--list=a@m.cc'])
  expect(await rows()).toEqual([])
  for (const args of [
    ['remove', '-V'],
    ['has', '-Vx'],
    ['remove', '--forgt', 'bob@m.cc'],
    ['count', '-V@m.cc'],
  ]) {
    expect([args, await run(args)]).toEqual([
      args,
      { code: 2, stdout: '', stderr: expect.stringMatching(/^rollcall: /) },
    ])
  }
})

test('no output shows a password, whatever it repeats', async () => {
  const { run, write } = await createCliFixture()
  // An import that asks prints the command again.
  await write('list.csv', 'email,status\na@site.io,active\nb@site.io,weird\n')
  const list = 'postgres://ann:hunter2@127.0.0.1:1/x'
  const { code, stdout, stderr } = await run(['import', 'list.csv', '--list', list])
  expect([code, stdout + stderr]).toEqual([1, expect.not.stringContaining('hunter2')])
  const urls = [
    'postgres://ann:hunter2@db.example/x',
    'postgres://ann:hun@ter2@db.example/x',
    'postgres://ann:hunter2/@db.example/x',
    'postgres://ann:my hunter2@db.example/x',
    'postgres%3A%2F%2Fann%3Ahunter2%40db.example%2Fx',
    'postgres://db.example/x?user=ann&password=hunter2',
    'postgresql:ann:hunter2@db.example/x',
    "host=db.example user=ann password='a hunter2'",
    'PGPASSWORD=hunter2',
    'https://ann:hunter2@db.example',
  ]
  const commands = (url: string) => [
    [url],
    ['count', url],
    ['count', '--list', url],
    ['count', `--lists=${url}`],
    ['import', url],
    ['backup', url],
    ['restore', url],
    ['export', '--out', url],
    ['export', '--format', url],
    ['export', '--since', url],
    ['copy', '--from-file', url, '--to', url],
    ['doctor', '--list', url],
    ['has', url],
    ['init', '--base-url', url, '--name', 'x'],
    ['import', '-', '--encoding', url],
    ['import', '-', '--treat', url],
  ]
  for (const url of urls) {
    const env = { DATABASE_URL: url, BASE_URL: url, CORS_ORIGINS: url }
    expect((await runCommand(['doctor', '--json'], { env })).stdout).not.toMatch(/hun|ter2/)
    const results = await Promise.all(commands(url).map((args) => run(args)))
    for (const [index, { code, stdout, stderr }] of results.entries()) {
      expect([commands(url)[index], code]).not.toEqual([commands(url)[index], 0])
      expect(stdout + stderr).not.toMatch(/hun|ter2/)
    }
  }
})

test('without a verb, the help is on standard error', async () => {
  const { run } = await createCliFixture()
  expect(await run([])).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining('Usage: rollcall') })
})

/** Commands that work on a list that exists. */
const ON_LIST = ['count', 'has a@b.io', 'export', 'status', 'remove a@b.io', 'backup b.db', 'copy --to sqlite:c.db']

test('a list that is missing or empty is not created, except by an import', async () => {
  const { folder, list, print, run, write } = await createCliFixture()
  await write('list.db', '')
  for (const command of ON_LIST) {
    for (const [url, end] of [
      ['sqlite:none/list.db', '/none/list.db'],
      [list, '/list.db \\(the file is empty\\)'],
    ] as const) {
      const result = await run([...command.split(' '), command.startsWith('copy') ? '--from' : '--list', url])
      const stderr = expect.stringMatching(
        RegExp(
          `^rollcall: .*there is no list at .*${end}: use the folder and the settings of the service, or --list; if it was deleted, restore a backup\n$`,
        ),
      )
      expect([command, result]).toEqual([command, { code: 1, stdout: '', stderr }])
    }
  }
  expect(await readdir(folder)).toEqual(['list.db'])
  expect(Bun.file(`${folder}/list.db`).size).toBe(0)
  expect(await print(['import', '-'], 'a@site.io\n')).toStartWith('1 added')
})

test.each([
  ['backup', 'pg_dump'],
  ['restore', 'pg_restore'],
])('the %s of a list in PostgreSQL is a failure that names %s, and shows no password', async (verb, program) => {
  const { folder, run } = await createCliFixture()
  const { code, stderr } = await run([verb, 'b.db', '--list', 'postgres://u:secret@127.0.0.1:1/db'])
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`use ${program}`) })
  expect(stderr).not.toContain('secret')
  expect(await readdir(folder)).toEqual([])
})

test('what comes from outside is escaped: controls up to U+009F, and marks that change the direction of text', async () => {
  const { run } = await createCliFixture()
  const { stderr } = await run(['count', '--list', 'sqlite:a\u009b31m\u202eb.db', '--x\u001b[31m'])
  expect(stderr).toContain('--x\\u001b[31m')
  const missing = await run(['import', 'a\u009b31m\u202eb.csv'])
  expect(missing.stderr).toContain('a\\u009b31m\\u202eb.csv')
  const json = await run(['doctor', '--json', '--list', 'sqlite:a\u202eb.db'])
  expect(json.stdout).toContain('a\\u202eb.db')
  expect(JSON.parse(json.stdout).list).toBe('sqlite:a\u202eb.db')
})

test('an unexpected error is one line with the next step; LOG_LEVEL=debug adds where it comes from, without addresses', async () => {
  const { folder, list, print, write } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  const defect = "throw new TypeError('eve@site.io is wrong')"
  for (const [name, code] of [
    ['called', defect],
    ['thrown', `setTimeout(() => { ${defect} }); return this`],
    ['rejected', `setTimeout(async () => { ${defect} }); return this`],
  ] as const) {
    // The command uses this method.
    const source = await write(`${name}.ts`, `String.prototype.padEnd = function () { ${code} }`)
    const env = { DATABASE_URL: list, BUN_OPTIONS: `--preload ${join(folder, source)}` }
    const { code: exit, stderr } = await runCommand(['status'], { env, folder })
    const advice = 'run the command again with LOG_LEVEL=debug, and report what it prints'
    const line = `rollcall: an error of Rollcall itself (TypeError): ${advice}`
    expect([name, exit, stderr.trimEnd()]).toEqual([name, 1, line])
    const debugged = await runCommand(['status'], { env: { ...env, LOG_LEVEL: 'debug' }, folder })
    expect(debugged.stderr).toContain(`${name}.ts:1`)
    expect(debugged.stderr).not.toContain('@')
  }
})

test('an error of the system that has no words of ours has the message of the system', async () => {
  const { folder, print, run } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  using socket = Bun.listen({ unix: join(folder, 'socket'), socket: { data() {} } })
  expect(socket).toBeDefined()
  expect(await run(['export', '--out', 'socket'])).toMatchObject({
    code: 1,
    stderr: 'rollcall: socket: no such device or address\n',
  })
})

/** The packages that a file loads before it runs: its import statements and those of the files that it imports. */
function listLoadedPackages(file: string, visited = new Set<string>()): ReadonlySet<string> {
  if (visited.has(file) || file.endsWith('.json')) return new Set()
  visited.add(file)
  const source = readFileSync(join(ROOT, file), 'utf8')
  const names = new Bun.Transpiler({ loader: 'ts' })
    .scanImports(source.replace(/^#!.*/, ''))
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path }) => path)
  const own = names.filter((name) => name.startsWith('.')).map((name) => normalize(join(dirname(file), name)))
  const packages = names.filter((name) => !/^(?:\.|node:|bun(?::|$))/.test(name))
  return new Set([...packages, ...own.flatMap((name) => [...listLoadedPackages(name, visited)])])
}

test('a command that works on a list does not load what only the service needs', () => {
  expect([...listLoadedPackages('src/cli.ts')]).toEqual(['commander'])
})
