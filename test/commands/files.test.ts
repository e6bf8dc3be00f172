/** The files that commands write: complete or not there, and never in the place of a list, a device, a FIFO or a link. */

import { expect, onTestFinished, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, chown, link, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withPartialFile } from '../../src/files.ts'
import { type CliFixture, createCliFixture } from '../support/cli-fixture.ts'
import { BOUND_BY_MODES } from '../support/disk.ts'
import { PROGRAM } from '../support/program.ts'
import { runCommand, startService } from '../support/service.ts'
import { until, within } from '../support/wait.ts'
import { createFolder } from '../support/workspace.ts'

/** More addresses than a pipe holds. */
const MANY = Array.from({ length: 50_000 }, (_, index) => `user.${index}@site.io\n`).join('')

/** A list with an address, and files and links of every kind beside it. */
async function createPlace(): Promise<CliFixture> {
  const fixture = await createCliFixture()
  const { folder, print, shell, write } = fixture
  await print(['import', '-'], 'ada@site.io\n')
  await print(['backup', 'other.db'])
  await print(['import', '-', '--list', 'sqlite:closed.db'], 'bob@site.io\n')
  await mkdir(join(folder, 'folder'))
  await link(join(folder, 'list.db'), join(folder, 'hard.db'))
  const links = { 'soft.db': 'list.db', log: 'list.db-wal', link: 'o.csv', dangling: 'folder/new.csv', loop: 'loop' }
  for (const [name, target] of Object.entries(links)) await symlink(target, join(folder, name))
  await write('o.csv', 'before')
  await write('.g.lock', 'not a lock')
  await write('cut.db', 'SQLite format 3\0')
  await write('used.db-journal', 'of a program that was killed')
  await shell('mkfifo fifo')
  return fixture
}

const FAILED: readonly (readonly [command: string, says: string])[] = [
  ['export --out o.csv --cursor-file none/c', 'none/c: there is no such file or folder'],
  ['export --out o.csv --cursor-file folder', 'folder: it is a folder: name a file'],
  ['export --cursor-file o.csv/c', 'o.csv is not a folder: correct the path'],
  ['export --cursor-file none/c --exec >ran', 'none/c: there is no such file or folder'],
  ['export --out folder --cursor-file c', 'folder: it is a folder: name a file'],
  ['export --out none/o.csv --cursor-file c', 'none/o.csv: there is no such file or folder'],
  [`export --out ${'x'.repeat(300)}`, 'its name is too long: use a shorter one'],
  ['export --out loop', 'loop: it is a link to itself: delete it'],
  ['export --cursor-file g', '.g.lock while no export and no import runs'],
  ['backup folder', 'folder: it is a folder: name a file'],
  ['backup none/b.db', 'none/b.db: there is no such file or folder'],
]
const NAMES_OF_LIST = ['list.db', 'folder/../list.db', 'hard.db', 'soft.db']
// Of this list and of any other, whether the file exists or not.
const NAMES_OF_LOGS = ['list.db-wal', 'list.db-journal', 'log', 'x-wal', 'x-shm', 'folder/x-journal']
const REFUSED: readonly (readonly [command: string, says: string])[] = [
  ...NAMES_OF_LIST.map((name) => [`export --out ${name}`, `${name} is a SQLite database`] as const),
  ...NAMES_OF_LOGS.map((name) => [`export --out ${name}`, `${name} has the name of a log of SQLite`] as const),
  ['export --cursor-file c --out .c.lock', '.c.lock has the name of the lock of a cursor file'],
  ['backup .c.lock', '.c.lock has the name of the lock of a cursor file'],
  ['backup x-wal', 'x-wal has the name of a log of SQLite'],
  ['backup used.db', 'used.db has used.db-journal beside it, which SQLite would play back into it'],
  ['import o.csv --rejected x-wal', 'x-wal has the name of a log of SQLite'],
  ['backup closed.db', 'closed.db is a list, and not a backup'],
  ['export --out other.db', 'other.db is a SQLite database'],
  ['export --cursor-file list.db', 'list.db is a SQLite database'],
  ['export --cursor-file other.db', 'other.db is a SQLite database'],
  ['export --cursor-file /dev/zero', '/dev/zero is not a regular file'],
  ['backup cut.db', 'cut.db is a SQLite database, and not a backup'],
  ['backup hard.db', 'hard.db is a list, and not a backup'],
  ['backup /dev/null', '/dev/null is not a regular file'],
  ['backup fifo', 'fifo is not a regular file'],
]

test('a file that cannot be written, or must not be replaced, is an error before anything is written', async () => {
  const { folder, run } = await createPlace()
  const names = async () => (await readdir(folder)).filter((name) => name !== '.c.lock').toSorted()
  const before = await names()
  const [list, closed] = ['list.db', 'closed.db'].map((name) => readFileSync(join(folder, name)))
  for (const [code, table] of [
    [1, FAILED],
    [2, REFUSED],
  ] as const) {
    for (const [command, says] of table) {
      const stderr = expect.stringContaining(`${says}${code === 2 ? ': choose another file' : ''}\n`)
      expect([command, await run(command.split(' '))]).toEqual([command, { code, stdout: '', stderr }])
    }
  }
  expect(await names()).toEqual(before)
  expect(readFileSync(join(folder, 'o.csv'), 'utf8')).toBe('before')
  expect(readFileSync(join(folder, 'list.db'))).toEqual(list!)
  expect(readFileSync(join(folder, 'closed.db'))).toEqual(closed!)
})

test('a list that is no file is an error at once: to open a FIFO would wait for ever', async () => {
  const { list, run, write } = await createPlace()
  await write('new.txt', 'bob@site.io\n')
  for (const name of ['fifo', '/dev/null', '/dev/zero']) {
    const url = `sqlite:${name}`
    for (const args of [
      ['count', '--list', url],
      ['import', 'new.txt', '--list', url],
      ['restore', name],
      ['copy', '--from', url, '--to', 'sqlite:new.db'],
      ['copy', '--from', list, '--to', url],
    ]) {
      const { code, stderr } = await within(run(args), 'the end of the command')
      const says = expect.stringMatching(/cannot be used: it is not a regular file: correct the path\n$/)
      expect([args, code, stderr]).toEqual([args, 1, says])
    }
  }
})

test('what hinders the deletion of a partial file does not hide the error of the work', async () => {
  const file = join(await createFolder(), 'list.csv')
  const written = withPartialFile(file, file, async (partial) => {
    await rm(partial)
    await mkdir(partial)
    throw new Error('the disk reports an error')
  })
  await expect(written).rejects.toThrow('the disk reports an error')
})

test('help says why it cannot be printed', async () => {
  const { shell } = await createPlace()
  for (const args of ['help', '--version', 'export --help']) {
    const { code, stderr } = await shell(`rollcall ${args} > /dev/full`)
    expect([args, code, stderr]).toEqual([args, 1, 'rollcall: standard output: the disk is full\n'])
  }
})

test('a link is followed, also to a file that does not exist yet; a device and a FIFO are written through', async () => {
  const { folder, print, shell } = await createPlace()
  const text = await print(['export'])
  for (const name of ['link', 'dangling', '/dev/null']) await print(['export', '--out', name])
  for (const name of ['o.csv', 'folder/new.csv']) expect(readFileSync(join(folder, name), 'utf8')).toBe(text)
  expect((await stat('/dev/null')).isCharacterDevice()).toBe(true)
  expect((await shell('cat fifo & rollcall export --out fifo 2> note; wait')).stdout).toBe(text)
  expect((await stat(join(folder, 'fifo'))).isFIFO()).toBe(true)
})

test('what leads to an open descriptor is written into, also when its file is regular: what it held stays', async () => {
  const { folder, print, shell, write } = await createPlace()
  const text = await print(['export'])
  await symlink('/dev/stdout', join(folder, 'out'))
  for (const name of [
    '-',
    '/dev/stdout',
    '/dev/fd/1',
    '/proc/self/fd/1',
    '/proc/thread-self/fd/1',
    'out',
    '/dev/../dev/stdout',
  ]) {
    await write('a', 'before\n')
    await shell(`(echo first; rollcall export --out ${name}; echo last) >> a`)
    expect([name, readFileSync(join(folder, 'a'), 'utf8')]).toEqual([name, `before\nfirst\n${text}last\n`])
  }
  await write('a', 'before\n')
  await shell('rollcall export --out /dev/fd/3 3>> a; rollcall status --html /dev/stdout >> a')
  const found = readFileSync(join(folder, 'a'), 'utf8')
  expect(found.slice(0, `before\n${text}<!doc`.length)).toBe(`before\n${text}<!doc`)
  await write('import.log', 'before\n')
  await shell('echo bad | cat - o.csv | rollcall import - --rejected /dev/stderr 2>> import.log')
  expect(readFileSync(join(folder, 'import.log'), 'utf8')).toMatch(/^before\n[\s\S]*\nline,reason,cell\r\n/)
  await write('b.db', 'before\n')
  for (const command of ['backup /dev/stdout', 'backup -', 'export --cursor-file /dev/stdout']) {
    const { code, stderr } = await shell(`rollcall ${command} >> b.db`)
    expect([command, code, stderr]).toEqual([command, 2, expect.stringContaining('is not a regular file')])
  }
  expect(readFileSync(join(folder, 'b.db'), 'utf8')).toBe('before\n')
  // A descriptor that is not open.
  expect((await shell('rollcall export --out /dev/fd/99')).code).toBe(1)
})

test('two names of files that are not UTF-8 do not become one', async () => {
  const { folder, print, shell } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  for (const command of ['backup', 'export --out', 'export --cursor-file', 'count --list']) {
    const { code, stderr } = await shell(`rollcall ${command} $'x\\xff.db'`)
    const line = expect.stringContaining('an argument is not text in UTF-8')
    expect([command, code, stderr]).toEqual([command, 2, line])
  }
  expect(await readdir(folder)).toEqual(['list.db'])
  await print(['backup', 'ü\ufffd.db'])
  expect((await readdir(folder)).sort()).toEqual(['list.db', 'ü\ufffd.db'])
})

test('a backup replaces an older one, but not a list that a service uses', async () => {
  const { folder, list, print, run, rows } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  await print(['backup', 'copy.db'])
  await print(['import', '-'], 'bob@site.io\n')
  expect(await print(['backup', 'copy.db'])).toBe(`copy.db: 2 addresses of ${list}\n`)
  const copy = `sqlite:${folder}/copy.db`
  const service = await startService({ folder, env: { DATABASE_URL: copy } })
  onTestFinished(async () => void (await service.stop()))
  expect((await service.subscribe('cyd@site.io')).status).toBe(200)
  const stderr = 'rollcall: copy.db is a list, and not a backup: choose another file\n'
  expect(await run(['backup', 'copy.db'])).toEqual({ code: 2, stdout: '', stderr })
  expect((await service.subscribe('dan@site.io')).status).toBe(200)
  expect((await rows(copy)).map(({ email }) => email)).toEqual(
    ['ada', 'bob', 'cyd', 'dan'].map((name) => `${name}@site.io`),
  )
})

test('an export to a file of the shell says at a signal that the file is not complete', async () => {
  const { folder, print, start } = await createCliFixture()
  await print(['import', '-'], MANY)
  const child = start(['export', '--cursor-file', 'c'])
  // Nobody reads the rest.
  await child.stdout.getReader().read()
  child.kill('SIGINT')
  expect(await within(child.exited, 'the end of the export')).toBe(130)
  expect(await child.stderr.text()).toBe('rollcall: stopped: the output is not complete\n')
  expect(existsSync(join(folder, 'c'))).toBe(false)
})

test('the next export removes what a killed one left, and no other file', async () => {
  const { folder, print, start, write } = await createCliFixture()
  await print(['import', '-'], MANY)
  const partials = async () => (await readdir(folder)).filter((name) => name.includes('.partial')).toSorted()
  const killed = start(['export', '--out', 'o.csv'])
  await until(async () => (await partials()).length > 0, 'the export writes its temporary file')
  killed.kill('SIGKILL')
  await killed.exited
  const { pid } = killed
  expect(await partials()).toEqual([`.o.csv.${pid}.partial`])
  // SQLite has one beside the partial file of a backup.
  await write(`.o.csv.${pid}.partial-journal`, '')
  const others = [
    `.o.csv.${process.pid}.partial`,
    ...[`.other.csv.${pid}.partial`, `.o.csv.${pid}.partial.txt`, `.oxcsv.${pid}.partial`, `o.csv.${pid}.partial`],
  ].toSorted()
  for (const name of others) await write(name, '')
  await print(['export', '--out', 'o.csv'])
  expect(await partials()).toEqual(others)
  expect(await readFile(join(folder, 'o.csv'), 'utf8')).toBe(await print(['export']))
})

test('the partial file of a process of another user stays', async () => {
  const { folder, list, print, write } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  // The first process of a system is of root.
  await write('.o.csv.1.partial', 'of another process')
  await shareWithAnother(folder)
  const program = [...AS_ANOTHER, PROGRAM]
  const { code, stderr } = await runCommand(['export', '--list', list, '--out', 'o.csv'], { folder, program })
  expect([code, stderr]).toEqual([0, expect.stringContaining('1 address exported')])
  expect(readFileSync(join(folder, '.o.csv.1.partial'), 'utf8')).toBe('of another process')
})

/** Starts a command as a user other than root. */
const AS_ANOTHER = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--'] : []

/** Gives a folder and its files to that user. */
async function shareWithAnother(folder: string): Promise<void> {
  if (process.getuid?.() !== 0) return
  for (const name of ['.', ...(await readdir(folder))]) await chown(join(folder, name), 65_534, 65_534)
}

test('a partial file takes its journal along, also when the work fails', async () => {
  const { folder } = await createCliFixture()
  const work = withPartialFile(join(folder, 'o.db'), 'o.db', async (partial) => {
    for (const ending of ['-journal', '-wal', '-shm']) await writeFile(partial + ending, '')
    throw new Error('stopped')
  })
  await expect(work).rejects.toThrow('stopped')
  expect(await readdir(folder)).toEqual([])
})

test('nothing is handed over when the cursor cannot be saved, because it would be handed over again at every run', async () => {
  const { folder, list, print, write } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  await mkdir(join(folder, 'closed'))
  // An earlier run left its lock.
  await write('closed/.c.lock', '')
  await chmod(join(folder, 'closed'), 0o500)
  const args = ['export', '--list', list, '--cursor-file', 'closed/c', '--exec', 'cat > ran']
  const { code, stderr } = await runCommand(args, { folder, program: [...BOUND_BY_MODES, PROGRAM] })
  expect([code, stderr]).toEqual([1, expect.stringContaining('closed/c: permission denied')])
  expect(existsSync(join(folder, 'ran'))).toBe(false)
  // A pipe would get the same people again and again.
  const options = { folder, program: [...BOUND_BY_MODES, PROGRAM] }
  const printed = await runCommand(['export', '--list', list, '--cursor-file', 'closed/c'], options)
  expect(printed).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining('closed/c: permission denied') })
})
