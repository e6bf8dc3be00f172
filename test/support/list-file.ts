/** Looks at the file of a list, next to the service that uses it. */

import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './paths.ts'
import { runCommand } from './service.ts'
import { until } from './wait.ts'

/** The path of the list of a service that runs in a folder with default settings. */
export function toListFile(folder: string): string {
  return join(folder, 'data/rollcall.db')
}

/** Compacts the list of a service in a folder, and returns its addresses like `readListFile`. */
export function readList(folder: string): Promise<readonly string[]> {
  return readListFile(toListFile(folder))
}

/** Compacts a list with the command line. Returns all addresses as they are spelled, in the order of the cursor. */
export async function readListFile(file: string): Promise<readonly string[]> {
  const { code, stdout, stderr } = await runCommand(['count'], { env: { DATABASE_URL: `sqlite:${file}` } })
  if (code !== 0) throw new Error(stderr)
  using db = new Database(file, { readonly: true })
  const rows = db.query<{ email: string }, []>('SELECT email FROM subscribers ORDER BY seq').all()
  if (Number(stdout) !== rows.length) throw new Error(`count says ${stdout}, but the list has ${rows.length}`)
  return rows.map(({ email }) => email)
}

/** Counts the addresses that compaction has moved to the list. */
export function countCompacted(file: string): number {
  using db = new Database(file, { readonly: true })
  return db.query<{ size: number }, []>('SELECT count(*) AS size FROM subscribers').get()?.size ?? 0
}

const WRITER = `
  import { openSqliteStore } from '${ROOT}/src/store/sqlite/store.ts'
  const [file, end, ...addresses] = process.argv.slice(1)
  const store = openSqliteStore(file, { access: 'create' })
  await store.add(addresses)
  if (end === 'kill') process.kill(process.pid, 'SIGKILL')
  await store.close()
`

/** Adds addresses to a list in another process. It kills itself, so that they are in the log only, or closes the list. */
export async function addAndEnd(end: 'kill' | 'close', file: string, ...addresses: readonly string[]): Promise<void> {
  const child = Bun.spawn([process.execPath, '-e', WRITER, file, end, ...addresses], { stderr: 'pipe' })
  const [text] = await Promise.all([child.stderr.text(), child.exited])
  if (text !== '' || (child.signalCode === 'SIGKILL') !== (end === 'kill')) throw new Error(`the writer: ${text}`)
}

/**
 * Takes the write lock of a list when a command has written its first batch. The command writes at most one more when the
 * returned function releases the lock, if it gets a signal before.
 *
 * @param table the first batch writes to it
 */
export async function holdBetweenBatches(file: string, table: 'subscribers' | 'suppressions'): Promise<() => void> {
  await until(() => existsSync(file), 'there is a list')
  const db = new Database(file)
  await until(() => {
    try {
      if (db.query(`SELECT 1 FROM ${table}`).get() === null) return false
      db.run('BEGIN IMMEDIATE')
      return true
    } catch {
      // The command has the lock, or has not created its tables.
      return false
    }
  }, `there is a row in ${table}, and the lock is free`)
  return () => {
    db.run('ROLLBACK')
    db.close()
  }
}

// Does what any other program may do with the file: it opens a transaction, and keeps it open.
const HOLDER = `
  import { Database } from 'bun:sqlite'
  const db = new Database(process.argv[1])
  db.run('PRAGMA busy_timeout = 30000')
  db.run('BEGIN IMMEDIATE')
  console.log('held')
  await Bun.stdin.stream().getReader().read()
  db.run('COMMIT')
  process.exit()
`

/** Lets another process take the write lock, until `release` is called. Resolves when it has the lock. */
export async function holdLock(file: string): Promise<{ release(): Promise<unknown> }> {
  const holder = Bun.spawn([process.execPath, '-e', HOLDER, file], { stdin: 'pipe', stdout: 'pipe' })
  const { done } = await holder.stdout.getReader().read()
  if (done) throw new Error('the process that holds the lock has ended')
  return {
    release() {
      holder.stdin.end()
      return holder.exited
    },
  }
}
