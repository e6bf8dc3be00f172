/** `export --exec`: a subscriber counts as handed over when the command confirms it, and not before. */

import { Database } from 'bun:sqlite'
import { describe, expect, onTestFinished, test } from 'bun:test'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseListUrl } from '../../src/config/list-url.ts'
import { Failure } from '../../src/failure.ts'
import { openStore } from '../../src/store/open.ts'
import { openCursorFile } from '../../src/transfer/cursor-file.ts'
import { createWriter } from '../../src/transfer/writing/formats.ts'
import { handOver } from '../../src/transfer/writing/hand-over.ts'
import { type CliFixture, createCliFixture } from '../support/cli-fixture.ts'
import { startInTerminal } from '../support/screen.ts'
import { startService } from '../support/service.ts'
import { until, within } from '../support/wait.ts'

/** Adds `count` addresses, numbered from `first`. Returns the numbers of all subscribers. */
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

/** Commands that do not confirm. */
const FAILING: readonly (readonly [command: string, says: string])[] = [
  ['cat > /dev/null; exit 3', 'the command exited with 3'],
  ['cat > /dev/null; kill -9 $$', 'the command exited with 137'],
  ['./none 2> /dev/null', 'the command exited with 127'],
  ['true', 'the command exited with 0 but did not read all of its standard input'],
  ['head -c 70000 > /dev/null', 'did not read all of its standard input'],
  ['./none 2> /dev/null | cat', 'did not read all of its standard input'],
]

test('a file with addresses never has a name, so a kill leaves none', async () => {
  const fixture = await createCliFixture()
  await fixture.fill(50_000)
  const { exited } = fixture.start([...EXEC, 'cat > /dev/null'])
  const named: string[] = []
  let isDone = false
  void exited.then(() => {
    isDone = true
  })
  await until(async () => {
    const names = (await readdir(fixture.folder)).filter(
      (name) => name.endsWith('.partial') && !name.startsWith('.c.lock'),
    )
    // That of the cursor has a number only.
    named.push(...names.filter((name) => toText(fixture.folder, name).includes('@')))
    return isDone
  })
  expect([await exited, named]).toEqual([0, []])
})

test('a command that fails, or does not read everything, leaves the cursor unchanged', async () => {
  const fixture = await createCliFixture()
  // More than a pipe holds.
  const seqs = await subscribe(fixture, 2000)
  await fixture.write('c', `${seqs[6]}\n`)
  const start = `rollcall: subscribers ${seqs[7]} to ${seqs[1999]}: `
  const end = `; the cursor stays at ${seqs[6]}: the next run hands over the same subscribers\n`
  for (const [command, says] of FAILING) {
    const stderr = expect.stringMatching(RegExp(`^(Killed\n)?${start}.*${says}${end}$`))
    expect([command, await fixture.run([...EXEC, command])]).toEqual([command, { code: 1, stdout: '', stderr }])
    expect(toText(fixture.folder, 'c')).toBe(`${seqs[6]}\n`)
    expect((await readdir(fixture.folder)).filter((name) => name.endsWith('.partial'))).toEqual([])
  }
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
  const command = 'touch c; echo "$ROLLCALL_FIRST_SEQ-$ROLLCALL_LAST_SEQ after $(cut -d " " -f 1 c)"; cut -d, -f 1'
  const toRun = (run: string, ...names: string[]) =>
    [run, 'email', ...names.map((name) => `user.${name}@site.io`), ''].join('\n')
  expect(await fixture.print(['export', '--cursor-file', 'c', '--batch', '2', '--exec', command])).toBe(
    toRun(`${one}-${three} after `, '1', '3') + toRun(`${four}-${five} after ${three}`, '4', '5'),
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

test('a batch whose rows stop half-way is not handed over: nobody is skipped', async () => {
  const fixture = await createCliFixture()
  await subscribe(fixture, 200)
  // The program that feeds the command stands for one that the kernel kills, or whose file cannot be read.
  await fixture.shell(`mkdir bin && printf '#!/bin/sh\\nhead -c 40\\nexit 1\\n' > bin/cat && chmod +x bin/cat`)
  const command = 'while read -r line; do :; done'
  const result = await fixture.shell(`PATH=$PWD/bin:$PATH; rollcall ${EXEC.join(' ')} '${command}'`)
  expect(result).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the rows could not be sent to the command'),
  })
  expect(existsSync(join(fixture.folder, 'c'))).toBeFalse()
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
    const toNote = (index: number) =>
      `subscribers ${one} to ${three}: the command exited with 1; trying again in ${2 ** index} s\n`
    const notes = Array.from({ length: readRuns().length - 2 }, (_, index) => toNote(index))
    expect(await child.stderr.text()).toBe(`${notes.join('')}rollcall: stopped\n`)
  })

  test('it does not go on in another list, such as the one of a dump', async () => {
    const fixture = await createCliFixture()
    const [one] = await subscribe(fixture, 1)
    const child = fixture.start([...EXEC, 'cat >> got', '--follow'])
    await until(() => toCursor(fixture.folder) === one, 'the first cursor')
    {
      using db = new Database(join(fixture.folder, 'list.db'))
      db.run(`UPDATE list SET id = '0123456789abcdef'`)
    }
    expect(await within(child.exited, 'the end of the export')).toBe(1)
    expect(await child.stderr.text()).toContain(`the cursor ${one} belongs to another list`)
    expect(toCursor(fixture.folder)).toBe(one!)
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
})

const WAITING = 'waiting for the command; a second signal ends it\n'

test('a signal waits for the command, and the cursor is exact', async () => {
  const fixture = await createCliFixture()
  const seqs = await subscribe(fixture, 4)
  const child = fixture.start([...EXEC, 'cat > got; until test -e ready; do sleep 0.01; done', '--batch', '2'])
  await until(() => toText(fixture.folder, 'got') !== '', 'the first batch')
  child.kill('SIGTERM')
  const notes = child.stderr.pipeThrough(new TextDecoderStream()).getReader()
  expect((await notes.read()).value).toBe(WAITING)
  await fixture.write('ready', '')
  expect(await within(child.exited, 'the end of the export')).toBe(143)
  expect((await notes.read()).value).toBe('rollcall: stopped\n')
  expect(toCursor(fixture.folder)).toBe(seqs[1]!)
})

test('a signal before the command has begun stops the export without it', async () => {
  const fixture = await createCliFixture()
  await subscribe(fixture, 1)
  const list = parseListUrl('--list', fixture.list)
  const store = await openStore(list, { access: 'create', notify: () => {} })
  onTestFinished(() => store.close())
  using cursorFile = await openCursorFile(join(fixture.folder, 'c'))
  const command = `touch ${fixture.folder}/ran; cat`
  const options = { command, cursorFile, writer: createWriter({ format: 'txt' }), note: () => {} }
  const signal = AbortSignal.abort(new Failure('stopped'))
  await expect(handOver(store, { ...options, signal })).rejects.toThrow('stopped')
  expect(await readdir(fixture.folder)).not.toContain('ran')
})

test('a second signal stops the command too', async () => {
  const fixture = await createCliFixture()
  await subscribe(fixture, 1)
  const child = fixture.start([...EXEC, 'trap "touch ended; exit 1" TERM; cat > got; while :; do sleep 0.01; done'])
  await until(() => toText(fixture.folder, 'got') !== '', 'the command')
  child.kill('SIGINT')
  const notes = child.stderr.pipeThrough(new TextDecoderStream()).getReader()
  expect((await notes.read()).value).toBe(WAITING)
  // One that comes at once is the same, which npm has passed on.
  await until(() => {
    child.kill('SIGINT')
    return child.exitCode !== null
  }, 'the end of the export')
  expect(child.exitCode).toBe(130)
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
  await run.shows('waiting for the command; a second signal ends it')
  await fixture.write('ready', '')
  expect((await run.end()).exit).toBe(130)
  expect(toCursor(folder)).toBe(seqs[0]!)
})

test('a second export on a cursor file is refused, and a kill of the first one leaves no lock', async () => {
  const fixture = await createCliFixture()
  await subscribe(fixture, 1)
  const first = fixture.start([...EXEC, 'cat > got; while test -e got; do sleep 0.01; done'])
  await until(() => toText(fixture.folder, 'got') !== '', 'the command')
  const stderr = 'rollcall: c: another command uses this cursor file: wait for its end\n'
  for (const args of [EXEC.slice(0, -1), [...EXEC, 'touch ran; cat']]) {
    expect(await fixture.run(args)).toEqual({ code: 1, stdout: '', stderr })
  }
  expect(existsSync(join(fixture.folder, 'ran'))).toBeFalse()
  first.kill('SIGKILL')
  await first.exited
  expect(await fixture.print([...EXEC, 'cat'])).toContain('user.1@site.io')
})

test('a command whose export is killed still gets its whole document, and the next run repeats it', async () => {
  const fixture = await createCliFixture()
  // More than a pipe holds: most of the document is not in the pipe when the export is killed.
  await fixture.fill(20_000)
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

/** Keeps its rows only when it has read all of them. Says how far it is, and waits there while a file holds it. */
const RECEIVER = `
at() { touch "$1"; while test -e "hold.$1"; do sleep 0.01; done; }
echo $$ > pid; at begun; cat > $$.part; at read; cat $$.part >> got; at kept`

test('no kill of the export or of the command, at any step, skips a row', async () => {
  const fixture = await createCliFixture()
  const { folder, print, start, write } = fixture
  const seqs = await subscribe(fixture, 100)
  const args = [...EXEC, RECEIVER, '--batch', '10']
  const readGot = () =>
    new Set(
      toText(folder, 'got')
        .match(/(?<="seq":)\d+(?=}\n)/g)
        ?.map(Number),
    )
  for (const step of ['begun', 'read', 'kept']) {
    for (const victim of ['export', 'command']) {
      await print([...args, '--limit', '10'])
      rmSync(join(folder, step))
      await write(`hold.${step}`, '')
      const child = start(args)
      await until(() => existsSync(join(folder, step)), step)
      process.kill(victim === 'export' ? child.pid : Number(toText(folder, 'pid')), 'SIGKILL')
      rmSync(join(folder, `hold.${step}`))
      await within(child.exited, 'the end of the export')
      const [cursor, got] = [toCursor(folder), readGot()]
      expect(cursor).toBeGreaterThan(0)
      expect([step, victim, seqs.filter((seq) => seq <= cursor && !got.has(seq))]).toEqual([step, victim, []])
    }
  }
  await print(args)
  expect([...readGot()].toSorted((one, other) => one - other)).toEqual(seqs)
})
