/** Standard error that cannot be written: the line is lost, and nothing else. */

import { expect, test } from 'bun:test'
import { closeSync, constants, existsSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { createCliFixture } from './support/cli-fixture.ts'
import { ROOT } from './support/paths.ts'
import { PROGRAM } from './support/program.ts'
import { NO_ENV_FILE } from './support/service.ts'
import { until, within } from './support/wait.ts'
import { createFolder, findPort, RUNNING } from './support/workspace.ts'

/** Where standard error leads, as a script of `sh` that runs the command `"$@"`. */
const PLACES = {
  'a full disk': 'exec "$@" 2> /dev/full',
  'a file over the limit of its size': 'truncate -s 2M log; exec prlimit --fsize=1048576: "$@" 2>> log',
  'a pipe without a reader': 'mkfifo log; exec 3<> log; exec 2> log 3>&-; exec "$@"',
  'a full pipe whose reader has stopped':
    'mkfifo log; exec 3<> log 2> log; dd if=/dev/zero bs=64k count=1 >&2 2> dd; exec "$@"',
  'no descriptor': 'exec "$@" 2>&-',
} as const

test.concurrent.each(Object.entries(PLACES))(
  'a service lives and stops in order when its log leads to %s',
  async (place, script) => {
    const folder = await createFolder()
    const port = findPort()
    const settings = { PORT: String(port), HOST: '127.0.0.1', LOG_LEVEL: 'trace', ...NO_ENV_FILE }
    const child = Bun.spawn(['sh', '-c', script, 'sh', PROGRAM, 'serve'], {
      cwd: folder,
      env: { PATH: process.env.PATH, ...settings },
    })
    RUNNING.add(child)
    const post = () =>
      fetch(`http://127.0.0.1:${port}/api/newsletter`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{"email":"ada@example.org"}',
        signal: AbortSignal.timeout(10_000),
      }).then(
        ({ status }) => status,
        () => undefined,
      )
    await until(async () => child.exitCode !== null || (await post()) !== undefined, `the service responds: ${place}`)
    for (let index = 0; index < 20; index++) expect(await post()).toBe(200)
    child.kill('SIGTERM')
    expect(await within(child.exited, 'the service stops')).toBe(0)
    RUNNING.delete(child)
  },
)

test('a note of a command waits about a second for a reader that has stopped, and not for ever', async () => {
  const folder = await createFolder()
  const script = `import { writeError } from '${ROOT}/src/stderr.ts'
    // As every command does; the runtime puts the pipe into non-blocking mode then.
    process.stderr.on('error', () => {})
    const start = performance.now()
    writeError('x'.repeat(200_000))
    console.log(performance.now() - start)`
  const place = 'mkfifo log; exec 3<> log 2> log; exec "$@"'
  const child = Bun.spawn(['sh', '-c', place, 'sh', process.execPath, '-e', script], { cwd: folder })
  RUNNING.add(child)
  const waited = Number(await within(child.stdout.text(), 'the note is given up'))
  RUNNING.delete(child)
  expect(waited).toBeWithin(900, 10_000)
})

test('a line of the log that was cut off is not joined to the next one', async () => {
  const folder = await createFolder()
  const script = `import { writeError } from '${ROOT}/src/stderr.ts'
    process.stderr.on('error', () => {})
    // More than a pipe takes, and nobody reads it yet.
    writeError('x'.repeat(200_000) + '\\n', 0)
    console.log('cut off')
    process.stdin.once('data', () => {
      writeError('next\\n', 0)
      writeError('last\\n', 0)
      process.exit()
    })`
  const place = 'mkfifo log; exec 3<> log 2> log; exec "$@"'
  const child = Bun.spawn(['sh', '-c', place, 'sh', process.execPath, '-e', script], { cwd: folder, stdin: 'pipe' })
  RUNNING.add(child)
  const lines = child.stdout.getReader()
  await within(lines.read(), 'the line is cut off')
  const log = openSync(join(folder, 'log'), constants.O_RDONLY | constants.O_NONBLOCK)
  const buffer = Buffer.alloc(200_000)
  const read = () => buffer.toString('latin1', 0, readSync(log, buffer))
  expect(read()).toMatch(/^x+$/)
  // Keeps the pipe open, and what the process writes in it, beyond the end of the process.
  const writer = openSync(join(folder, 'log'), constants.O_WRONLY)
  child.stdin.write('go')
  await child.stdin.end()
  await within(child.exited, 'the process ends')
  RUNNING.delete(child)
  expect(read()).toBe('\nnext\nlast\n')
  closeSync(writer)
  closeSync(log)
})

test('a command works without its notes', async () => {
  const { shell, folder, rows } = await createCliFixture()
  const script = `echo ada@site.io | rollcall import - 2>/dev/full
    rollcall export --out a.csv 2>/dev/full
    rollcall count 2>&-
    rollcall has nobody@site.io 2>/dev/full; echo $?
    rollcall export --frmat csv 2>/dev/full; echo $?
    rollcall remove ada@site.io 2>/dev/full`
  const { code, stdout } = await shell(`set -o pipefail; ${script}`)
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^1 added.*\n.*\n1\nnot on the list\n1\n2\nada@site.io: removed\n$/),
  })
  expect(existsSync(join(folder, 'a.csv'))).toBe(true)
  expect(await rows()).toEqual([])
})

test('a command fails when its standard output cannot be written; when it is closed, before it changes anything', async () => {
  const { shell, folder, print, rows } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  for (const command of [
    'count',
    'has ada@site.io',
    'export',
    'status',
    'doctor',
    '--help',
    'count --help',
    '--version',
  ]) {
    expect([command, (await shell(`rollcall ${command} > /dev/full`)).code]).toEqual([command, 1])
  }
  for (const command of [
    'export --cursor-file c',
    'remove ada@site.io',
    'count',
    'export --out a.csv',
    'backup b.db',
  ]) {
    const { code, stderr } = await shell(`rollcall ${command} >&-`)
    const line = 'rollcall: standard output is closed: use > /dev/null\n'
    expect([command, code, stderr]).toEqual([command, 1, line])
  }
  for (const name of ['c', 'a.csv', 'b.db']) expect(existsSync(join(folder, name))).toBe(false)
  expect(await rows()).toHaveLength(1)
  expect((await shell('rollcall export --out a.csv > /dev/null && rollcall count <&-')).stdout).toBe('1\n')
})
