/** `export --exec`: a subscriber counts as handed over when the command confirms it, and not before. */

import { describe, expect, onTestFinished, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type CliFixture, createCliFixture } from '../support/cli-fixture.ts'
import { getServer } from '../support/postgres.ts'
import { startInTerminal } from '../support/screen.ts'
import { startService } from '../support/service.ts'
import { until, within } from '../support/wait.ts'

/** Adds `count` addresses, numbered from `first`. Returns the numbers (`seq`) of all subscribers. */
async function subscribe({ print, rows }: CliFixture, count: number, first = 1): Promise<number[]> {
  const emails = Array.from({ length: count }, (_, index) => `user.${first + index}@site.io\n`)
  await print(['import', '-'], emails.join(''))
  return (await rows()).map(({ seq }) => seq)
}

const toText = (folder: string, name: string) => {
  const file = join(folder, name)
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

/** The number in the cursor file. Behind it is the id of the list. */
const toCursor = (folder: string) => Number.parseInt(toText(folder, 'c'), 10)

const EXEC = ['export', '--cursor-file', 'c', '--format', 'ndjson', '--exec']

describe('a command that does not confirm leaves the cursor unchanged', () => {
  test.each([
    ['it fails after it has read everything', 'cat > /dev/null; exit 3', 'the command exited with 3'],
    ['a signal ends it', 'cat > /dev/null; kill -9 $$', 'the command exited with 137'],
    ['it does not exist', './none 2> /dev/null', 'the command exited with 127'],
    ['it reads nothing', 'true', 'the command exited with 0 but did not read all of its standard input'],
    ['it reads a part', 'head -c 70000 > /dev/null', 'did not read all of its standard input'],
    ['the first of a pipe does not exist', './none 2> /dev/null | cat', 'did not read all of its standard input'],
  ])('%s', async (_, command, problem) => {
    const fixture = await createCliFixture()
    // More than a pipe holds.
    const seqs = await subscribe(fixture, 2000)
    await fixture.write('c', `${seqs[6]}\n`)
    expect(await fixture.run([...EXEC, command])).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        RegExp(
          `^(Killed\n)?rollcall: subscribers ${seqs[7]} to ${seqs[1999]}: .*${problem}; the cursor stays at ${seqs[6]}\n$`,
        ),
      ),
    })
    expect(toText(fixture.folder, 'c')).toBe(`${seqs[6]}\n`)
    expect((await readdir(fixture.folder)).filter((name) => !name.startsWith('list.db')).toSorted()).toEqual([
      '.c.lock',
      'c',
    ])
  })
})

test('the command gets all rows in one document, and its output is the only output', async () => {
  const fixture = await createCliFixture()
  const seqs = await subscribe(fixture, 2000)
  const command = 'cat /dev/stdin > got; echo "$ROLLCALL_FIRST_SEQ to $ROLLCALL_LAST_SEQ"'
  expect(await fixture.run(['export', '--cursor-file', 'c', '--exec', command])).toEqual({
    code: 0,
    stdout: `${seqs[0]} to ${seqs[1999]}\n`,
    stderr: `2,000 addresses exported\ncursor: ${seqs[1999]}\n`,
  })
  expect(toText(fixture.folder, 'got')).toBe(await fixture.print(['export']))
  expect(toCursor(fixture.folder)).toBe(seqs[1999]!)
})

test('--batch: each run gets a complete document and its numbers, and moves the cursor', async () => {
  const fixture = await createCliFixture()
  const [one, , three, four, five] = await subscribe(fixture, 5)
  await fixture.print(['remove', 'user.2@site.io'])
  const command =
    'echo "$ROLLCALL_FIRST_SEQ-$ROLLCALL_LAST_SEQ $(cut -d, -f1 | tr -d "\\r" | paste -sd " ") $(cut -d " " -f 1 c)"'
  const { stdout } = await fixture.run([
    'export',
    '--cursor-file',
    'c',
    '--batch',
    '2',
    '--exec',
    `touch c; ${command}`,
  ])
  expect(stdout).toBe(
    `${one}-${three} email user.1@site.io user.3@site.io \n${four}-${five} email user.4@site.io user.5@site.io ${three}\n`,
  )
})

test('a batch that fails ends the command; those before it count', async () => {
  const fixture = await createCliFixture()
  const seqs = await subscribe(fixture, 6)
  const result = await fixture.run([...EXEC, `cat >> got; test "$ROLLCALL_LAST_SEQ" != ${seqs[3]}`, '--batch', '2'])
  expect([result.code, toCursor(fixture.folder)]).toEqual([1, seqs[1]!])
  await fixture.print([...EXEC, 'cat >> got', '--limit', '3'])
  expect(toCursor(fixture.folder)).toBe(seqs[4]!)
  const numbers = toText(fixture.folder, 'got').match(/(?<="seq":)\d+/g)
  expect(numbers?.map((number) => seqs.indexOf(Number(number)))).toEqual([0, 1, 2, 3, 2, 3, 4])
})

test('without a new subscriber the command does not run; reserved addresses move the cursor', async () => {
  const { folder, print, rows } = await createCliFixture()
  await print(['import', '-'], 'a@example.org\nb@example.org\n')
  const args = [...EXEC, 'touch ran; cat']
  expect(await print(args)).toBe('')
  expect(toCursor(folder)).toBe((await rows())[1]?.seq ?? 0)
  expect(await print(args)).toBe('')
  expect(existsSync(join(folder, 'ran'))).toBeFalse()
})

test('a cursor that cannot be saved: the command does not run', async () => {
  const fixture = await createCliFixture()
  await subscribe(fixture, 1)
  const { code, stderr } = await fixture.run(['export', '--cursor-file', 'none/c', '--exec', 'touch ran; cat'])
  expect([code, stderr]).toEqual([1, 'rollcall: none/c: there is no such file or folder\n'])
  expect(existsSync(join(fixture.folder, 'ran'))).toBeFalse()
})

test.each([
  [['--exec', 'cat'], '--exec needs --cursor-file'],
  [['--exec', 'cat', '--cursor-file', 'c', '--out', 'x'], "cannot be used with option '--out <file>'"],
  [['--batch', '5', '--cursor-file', 'c'], '--batch needs --exec'],
  [['--exec', 'cat', '--cursor-file', 'c', '--batch', '0'], '--batch is 0'],
])('export %j is a usage error', async (args, message) => {
  const { run } = await createCliFixture()
  expect(await run(['export', ...args])).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(message) })
})

describe('--follow', () => {
  test('a failed batch is repeated with growing delays: the same numbers, without who was removed', async () => {
    const fixture = await createCliFixture()
    const [one, , three] = await subscribe(fixture, 3)
    // Fails until the file `ready` is there.
    const command = 'echo "$ROLLCALL_FIRST_SEQ-$ROLLCALL_LAST_SEQ" $(wc -l) >> runs; test -e ready'
    const child = fixture.start([...EXEC, command, '--follow'])
    const readRuns = () => toText(fixture.folder, 'runs').split('\n').slice(0, -1)
    await until(() => readRuns().length > 0, 'the first attempt')
    const [, , , four, five] = await subscribe(fixture, 2, 4)
    await fixture.print(['remove', 'user.2@site.io'])
    await until(() => readRuns().at(-1) === `${one}-${three} 2`, 'an attempt without user.2')
    expect(existsSync(join(fixture.folder, 'c'))).toBeFalse()
    await fixture.write('ready', '')
    await until(() => toCursor(fixture.folder) === five, 'the last cursor')
    expect([...new Set(readRuns())]).toEqual([`${one}-${three} 3`, `${one}-${three} 2`, `${four}-${five} 2`])
    child.kill('SIGTERM')
    expect(await child.exited).toBe(143)
    const notes = Array.from(
      { length: readRuns().length - 2 },
      (_, index) => `subscribers ${one} to ${three}: the command exited with 1; trying again in ${2 ** index} s\n`,
    )
    expect(await child.stderr.text()).toBe(`${notes.join('')}rollcall: stopped\n`)
  })

  test('it hands over each new subscriber of a running service', async () => {
    const service = await startService()
    onTestFinished(async () => void (await service.stop()))
    const { folder, start } = await createCliFixture()
    const list = `sqlite:${service.folder}/data/rollcall.db`
    start(['export', '--follow', '--format', 'txt', '--cursor-file', 'c', '--list', list, '--exec', 'cat >> got'])
    for (const email of ['a@site.io', 'b@site.io', 'a@site.io', 'c@site.io']) await service.subscribe(email)
    await until(() => toText(folder, 'got').includes('c@site.io\n'), 'the last address')
    expect(toText(folder, 'got')).toBe('a@site.io\nb@site.io\nc@site.io\n')
  })

  test('a batch has at most 500 subscribers', async () => {
    const fixture = await createCliFixture()
    const seqs = await subscribe(fixture, 1100)
    fixture.start([...EXEC, 'wc -l >> sizes', '--follow'])
    await until(() => toCursor(fixture.folder) === seqs[1099], 'the last cursor')
    expect(toText(fixture.folder, 'sizes')).toBe('500\n500\n100\n')
  })
})

test.each(['SIGINT', 'SIGTERM'] as const)('%s waits for the command, and the cursor is exact', async (signal) => {
  const fixture = await createCliFixture()
  const seqs = await subscribe(fixture, 4)
  const command = 'cat > got; until test -e ready; do sleep 0.01; done'
  const child = fixture.start([...EXEC, command, '--batch', '2'])
  await until(() => toText(fixture.folder, 'got') !== '', 'the first batch')
  child.kill(signal)
  await fixture.write('ready', '')
  expect(await within(child.exited, 'the end of the export')).toBe(signal === 'SIGINT' ? 130 : 143)
  expect(await child.stderr.text()).toBe('waiting for the command; again to stop\nrollcall: stopped\n')
  expect(toCursor(fixture.folder)).toBe(seqs[1]!)
})

test('a second signal stops the command too', async () => {
  const fixture = await createCliFixture()
  await subscribe(fixture, 1)
  const child = fixture.start([...EXEC, 'trap "touch ended; exit 1" TERM; cat > got; while :; do sleep 0.01; done'])
  await until(() => toText(fixture.folder, 'got') !== '', 'the command')
  child.kill('SIGINT')
  const { value } = await child.stderr.getReader().read()
  expect(new TextDecoder().decode(value)).toBe('waiting for the command; again to stop\n')
  child.kill('SIGINT')
  expect(await within(child.exited, 'the end of the export')).toBe(130)
  await until(() => existsSync(join(fixture.folder, 'ended')), 'the end of the command')
  expect(existsSync(join(fixture.folder, 'c'))).toBeFalse()
})

test('Ctrl-C in a terminal does not reach the command', async () => {
  const fixture = await createCliFixture()
  const seqs = await subscribe(fixture, 1)
  const { folder } = fixture
  const script = "exec rollcall export --cursor-file c --exec 'cat > got; until test -e ready; do sleep 0.01; done'"
  const run = startInTerminal(script, { columns: 80, folder, env: { DATABASE_URL: fixture.list } })
  await until(() => toText(folder, 'got') !== '', 'the command')
  run.type('\u0003')
  await run.shows('waiting for the command; again to stop')
  await fixture.write('ready', '')
  expect((await run.end()).exit).toBe(130)
  expect(toCursor(folder)).toBe(seqs[0]!)
})

test('a second export on a cursor file is refused, and a kill of the first one leaves no lock', async () => {
  const fixture = await createCliFixture()
  await subscribe(fixture, 1)
  const first = fixture.start([...EXEC, 'cat > got; sleep 60'])
  await until(() => toText(fixture.folder, 'got') !== '', 'the command')
  for (const args of [EXEC.with(-1, '--limit').concat('1'), [...EXEC, 'touch ran; cat']]) {
    expect(await fixture.run(args)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'rollcall: c: another export uses this cursor file\n',
    })
  }
  expect(existsSync(join(fixture.folder, 'ran'))).toBeFalse()
  first.kill('SIGKILL')
  await first.exited
  expect(await fixture.print([...EXEC, 'cat'])).toContain('user.1@site.io')
})

test('a command whose export is killed still gets its whole document, and the next run repeats it', async () => {
  const fixture = await createCliFixture()
  // More than a pipe holds: most of the document is not in the pipe when the export is killed.
  await subscribe(fixture, 20_000)
  const command = 'touch started; until test -e ready; do sleep 0.01; done; cat > part; mv part got'
  const child = fixture.start([...EXEC, command])
  await until(() => existsSync(join(fixture.folder, 'started')), 'the command')
  child.kill('SIGKILL')
  await child.exited
  await fixture.write('ready', '')
  await until(() => existsSync(join(fixture.folder, 'got')), 'the whole document')
  expect(toText(fixture.folder, 'got')).toBe(await fixture.print(['export', '--format', 'ndjson']))
  expect((await readdir(fixture.folder)).filter((name) => name === 'c' || name.endsWith('.partial'))).toEqual([])
  expect((await fixture.run([...EXEC, 'wc -l'])).stdout.trim()).toBe('20000')
})

/** Keeps its rows only when it has read all of them, and is killed in between now and then. */
const RECEIVER = 'echo $$ > pid; cat > $$.part; sleep 0.005; cat $$.part >> got; rm $$.part'

test.each(['SQLite', 'PostgreSQL'])('%s: no kill of the export or of the command skips a row', async (store) => {
  const fixture = await createCliFixture()
  const list = store === 'SQLite' ? fixture.list : await (await getServer()).createUrl()
  const emails = Array.from({ length: 100 }, (_, index) => `user.${index}@site.io\n`)
  await fixture.print(['import', '-', '--list', list], emails.join(''))
  const seqs = (await fixture.rows(list)).map(({ seq }) => seq)
  const args = [...EXEC, RECEIVER, '--batch', '10', '--list', list]
  const readGot = () =>
    new Set(
      toText(fixture.folder, 'got')
        .match(/(?<="seq":)\d+(?=}\n)/g)
        ?.map(Number),
    )

  for (let round = 0; round < 6; round++) {
    const before = toText(fixture.folder, 'c')
    const child = fixture.start(args)
    await until(() => child.exitCode !== null || toText(fixture.folder, 'c') !== before, 'the first batch')
    const delay = Math.random() * 40
    await Bun.sleep(delay)
    if (round % 2 === 0) child.kill('SIGKILL')
    else killReceiver(fixture.folder)
    await within(child.exited, 'the end of the export')
    const cursor = toCursor(fixture.folder)
    const got = readGot()
    const skipped = seqs.filter((seq) => seq <= cursor && !got.has(seq))
    expect(skipped, `skipped in round ${round}, killed after ${delay} ms at cursor ${cursor}`).toEqual([])
  }
  await fixture.print(args)
  expect([...readGot()].sort((a, b) => a - b)).toEqual(seqs)
})

/** Kills the command that wrote its number to the file `pid`; it may have ended already. */
function killReceiver(folder: string): void {
  const pid = Number(toText(folder, 'pid'))
  try {
    if (pid > 0) process.kill(pid, 'SIGKILL')
  } catch {}
}
