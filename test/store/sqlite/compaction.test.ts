/** A pass of compaction may stop or fail after any slice, and several processes may compact the same list. */

import type { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Address } from '../../../src/email.ts'
import { STORE_DEADLINE_MS } from '../../../src/limits.ts'
import { type Compaction, createCompaction } from '../../../src/store/sqlite/compaction.ts'
import { closeList, type ListFile, openListFile } from '../../../src/store/sqlite/file.ts'
import { append, countInbox } from '../../../src/store/sqlite/inbox.ts'
import { checkIntegrity, lookUp } from '../../../src/store/sqlite/read.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { getRow } from '../../../src/store/sqlite/transaction.ts'
import { applyChanges } from '../../../src/store/sqlite/write.ts'
import { giveSpace, takeSpace } from '../../support/disk.ts'
import { ROOT } from '../../support/paths.ts'
import { until } from '../../support/wait.ts'
import { createFolder } from '../../support/workspace.ts'
import { createAddresses, toAddress } from '../suite.ts'

const folder = await createFolder()

/** New addresses in a row of the inbox. The second half of a row repeats the row before, in upper case. */
const NEW = 16
const ROW_COUNT = 80
const ADDRESSES = createAddresses(ROW_COUNT * NEW)
const ROWS = Array.from({ length: ROW_COUNT }, (_, row) => [
  ...ADDRESSES.slice(row * NEW, (row + 1) * NEW),
  ...ADDRESSES.slice(Math.max(row - 1, 0) * NEW, row * NEW).map((address) => toAddress(address.toUpperCase())),
])

/** Connections to one list, each with its compaction, as a process has it. */
interface Process extends ListFile {
  readonly compaction: Compaction
}

let lists = 0

/** Fills an inbox. Returns connections to it. */
function openProcesses(count: number): Process[] {
  const file = join(folder, `${++lists}.db`)
  const processes = Array.from({ length: count }, () => openProcess(file))
  const { db } = processes[0]!
  db.run('PRAGMA synchronous = OFF')
  for (const addresses of ROWS) append(db, JSON.stringify(addresses))
  db.run('PRAGMA synchronous = FULL')
  return processes
}

function openProcess(file: string): Process {
  const list = openListFile(file)
  return { ...list, compaction: createCompaction(list.db) }
}

function add({ db }: ListFile, addresses: readonly string[]): void {
  append(db, JSON.stringify(addresses))
}

/** Runs slices until nothing is left. @returns how many */
function finish({ compaction }: Process): number {
  for (let slices = 1; ; slices++) if (!compaction.slice()) return slices
}

function readEmails({ db }: ListFile): readonly string[] {
  return db
    .query<{ email: string }, []>('SELECT email FROM subscribers ORDER BY seq')
    .all()
    .map(({ email }) => email)
}

/** Expects that the list has these addresses, in the first spelling and in their order, and that its tables are equal. */
function expectList(list: ListFile, addresses: readonly string[] = ADDRESSES): void {
  expect(readEmails(list)).toEqual([...addresses])
  expect(countInbox(list.db)).toBe(0)
  checkIntegrity(list.db)
}

/** Removes an address as the owner does: under one lock, after everything that was accepted before. */
function remove({ db, compaction }: Process, address: string): void {
  db.transaction(() => {
    compaction.all()
    const [found] = lookUp(db, [toAddress(address)])
    applyChanges(db, { add: [], remove: found?.subscriber ? [found.subscriber] : [], suppress: [], forget: [] })
  }).immediate()
}

/** The slices of an undisturbed run. They differ by the speed of the machine, so a test stops after each that there is. */
function testEachSlice(work: (slices: number) => boolean): void {
  for (let slices = 0; work(slices); slices++);
}

/** Runs some slices. @returns whether more are left */
function runSlices({ compaction }: Process, slices: number): boolean {
  for (let slice = 0; slice < slices; slice++) if (!compaction.slice()) return false
  return true
}

test('another process goes on where one stopped, after any slice', () => {
  testEachSlice((slices) => {
    const [stopped, other] = openProcesses(2) as [Process, Process]
    const goesOn = runSlices(stopped, slices)
    finish(other)
    expectList(other)
    // The first one goes on after that, as a process that only stood still.
    finish(stopped)
    expectList(stopped)
    closeList(stopped)
    closeList(other)
    return goesOn
  })
})

test('another process moves the whole inbox before any statement of a pass', () => {
  for (let [statement, isReached] = [1, true]; isReached; statement++) {
    const [one, other] = openProcesses(2) as [Process, Process]
    isReached = false
    let left = statement
    const { db } = one
    const query = db.query
    db.query = ((sql: string) => {
      if (--left === 0) {
        isReached = true
        // Not while this process holds the lock: then the other one waits.
        if (tryLock(other)) finish(other)
      }
      return query.call(db, sql)
    }) as Database['query']
    finish(one)
    finish(other)
    expectList(one)
    closeList(one)
    closeList(other)
  }
})

function tryLock({ db }: ListFile): boolean {
  try {
    db.run('BEGIN IMMEDIATE')
    db.run('ROLLBACK')
    return true
  } catch {
    return false
  }
}

test('two processes compact in turns, from any slice on', () => {
  testEachSlice((slices) => {
    const [one, other] = openProcesses(2) as [Process, Process]
    const goesOn = runSlices(one, slices)
    for (let [left, otherLeft] = [true, true]; left || otherLeft; ) {
      otherLeft = other.compaction.slice()
      left = one.compaction.slice()
    }
    expectList(one)
    closeList(one)
    closeList(other)
    return goesOn
  })
})

// The last one in the order of the identities, and the first, whose rows are moved last and first.
test.each([ADDRESSES.toSorted().at(-1)!, ADDRESSES.toSorted()[0]!])(
  'an address that is removed after any slice does not come back, and can be added again: %s',
  (removed) => {
    testEachSlice((slices) => {
      const [paused, other] = openProcesses(2) as [Process, Process]
      const goesOn = runSlices(paused, slices)
      remove(other, removed)
      finish(paused)
      const rest = ADDRESSES.filter((address) => address !== removed)
      expectList(paused, rest)
      add(other, [removed])
      finish(paused)
      expectList(paused, [...rest, removed])
      closeList(paused)
      closeList(other)
      return goesOn
    })
  },
)

test('what comes after any slice is moved in its turn, repeats included', () => {
  const late = createAddresses(ADDRESSES.length + 5).slice(-5)
  testEachSlice((slices) => {
    const [one, other] = openProcesses(2) as [Process, Process]
    const goesOn = runSlices(one, slices)
    add(other, [...late, ADDRESSES[0]!.toUpperCase()])
    finish(one)
    finish(one)
    expectList(one, [...ADDRESSES, ...late])
    closeList(one)
    closeList(other)
    return goesOn
  })
})

/** Each makes a statement of a stage fail, in the middle of it. */
const FAILURES = {
  identities: `BEFORE INSERT ON identities WHEN new.seq % 7 = 3`,
  subscribers: `BEFORE INSERT ON subscribers WHEN new.seq % 7 = 3`,
  inbox: `BEFORE DELETE ON inbox`,
  list: `BEFORE UPDATE ON list`,
}

test.each(Object.entries(FAILURES))(
  'a statement on %s that fails changes nothing, and compaction goes on where it stopped',
  (_, when) => {
    const [failing, other] = openProcesses(2) as [Process, Process]
    other.db.run(`CREATE TRIGGER broken ${when} BEGIN SELECT raise(ABORT, 'broken'); END`)
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(() => finish(failing)).toThrow('broken')
      expect(failing.db.inTransaction).toBe(false)
      expect(readEmails(other)).toEqual([])
      expect(countInbox(other.db)).toBe(ROWS.flat().length)
    }
    // A change of the owner fails as a whole, and does not disturb the pass.
    expect(() => remove(failing, ADDRESSES[0]!)).toThrow('broken')
    other.db.run('DROP TRIGGER broken')
    finish(failing)
    expectList(failing)
    closeList(failing)
    closeList(other)
  },
)

// Fills an inbox. Runs a slice for each line of its input, and prints what came of it.
const COMPACTOR = `
  import { createCompaction } from '${ROOT}/src/store/sqlite/compaction.ts'
  import { closeList, openListFile } from '${ROOT}/src/store/sqlite/file.ts'
  import { append } from '${ROOT}/src/store/sqlite/inbox.ts'
  const list = openListFile(process.argv[1])
  const { slice } = createCompaction(list.db)
  for (const row of JSON.parse(process.argv[2])) append(list.db, JSON.stringify(row))
  process.stdout.write('open')
  for await (const _ of Bun.stdin.stream()) {
    try {
      process.stdout.write(slice() ? 'left' : 'done')
    } catch (error) {
      process.stdout.write(error.code)
    }
  }
  closeList(list)
`

test('a failing disk changes nothing after any slice, and compaction goes on when it works', async () => {
  const file = join(folder, 'disk.db')
  const child = Bun.spawn(
    ['sh', '-c', `trap '' XFSZ; exec "$@"`, 'sh', process.execPath, '-e', COMPACTOR, file, JSON.stringify(ROWS)],
    {
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    },
  )
  const answers = child.stdout.getReader()
  const read = async () => new TextDecoder().decode((await answers.read()).value)
  const ask = async (text: string) => {
    child.stdin.write(text)
    child.stdin.flush()
    return await read()
  }
  expect(await read()).toBe('open')
  let failures = 0
  for (let left = true; left; ) {
    takeSpace(child.pid)
    const failed = await ask('slice')
    if (failed.startsWith('SQLITE_')) failures++
    giveSpace(child.pid)
    left = (await ask('slice')) === 'left'
  }
  child.stdin.end()
  expect(await child.exited).toBe(0)
  expect(failures).toBeGreaterThan(1)
  const list = openListFile(file)
  expectList(list)
  closeList(list)
})

test('a slice does not wait for a lock that another process holds', () => {
  const [one, other] = openProcesses(2) as [Process, Process]
  other.db.run('BEGIN IMMEDIATE')
  const start = performance.now()
  expect(() => finish(one)).toThrow('locked')
  // A slice that waits for the lock fails too, when it has waited in vain.
  expect(performance.now() - start).toBeLessThan(STORE_DEADLINE_MS / 2)
  other.db.run('ROLLBACK')
  finish(one)
  expectList(one)
  closeList(one)
  closeList(other)
})

test('a change compacts again what came during a long compaction, so that it holds the lock for little', async () => {
  const file = join(await createFolder(), 'list.db')
  const other = openSqliteStore(file, { access: 'create' })
  const reader = openListFile(file)
  const count = (table: string) => getRow<{ size: number }>(reader.db, `SELECT count(*) AS size FROM ${table}`).size
  const add = (size: number) =>
    other.add(Array.from({ length: size }, () => `${crypto.randomUUID()}@site.io` as Address))
  await add(2_000)
  const store = openSqliteStore(file, { access: 'create' })
  let isDone = false
  const importing = store.import([{ email: 'new@site.io' as Address }]).finally(() => (isDone = true))
  await until(() => count('identities') > 0, 'the first compaction adds identities')
  for (let row = 0; row < 60; row++) await add(50)
  expect(count('subscribers')).toBe(0)
  // In slices, some are on the list before the others. Under the lock of the change, all would come at once.
  const sizes = new Set<number>()
  while (!isDone) {
    sizes.add(count('subscribers'))
    await Bun.sleep(0)
  }
  expect(await importing).toEqual({ added: 1, alreadyListed: 0, leftOut: 0 })
  expect([...sizes].filter((size) => size > 2_000 && size < 5_000)).not.toBeEmpty()
  expect((await store.count()).subscribers).toBe(5_001)
  closeList(reader)
  await store.close()
  await other.close()
})
