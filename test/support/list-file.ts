/** A list's file, looked at from beside the service. */

import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { runCommand } from './service.ts'

/** Where a service that was told nothing else keeps its list. */
export function toListFile(folder: string): string {
  return join(folder, 'data/rollcall.db')
}

/** Settles the list by the command line, and reads it: all addresses as they are spelled, in the order of the cursor. */
export async function readList(folder: string): Promise<readonly string[]> {
  const file = toListFile(folder)
  const { code, stdout, stderr } = await runCommand(['count'], { env: { DATABASE_URL: `sqlite:${file}` } })
  if (code !== 0) throw new Error(stderr)
  const emails = query(file, 'SELECT email FROM subscribers ORDER BY seq').map(([email]) => String(email))
  if (Number(stdout) !== emails.length)
    throw new Error(`count says ${stdout}, and ${emails.length} are listed`)
  return emails
}

/** How far settling has come; addresses that have only arrived are in neither. */
export function readProgress(file: string): { readonly indexed: number; readonly appended: number } {
  const [[indexed, appended] = []] = query(
    file,
    'SELECT (SELECT count(*) FROM identities), (SELECT count(*) FROM subscribers)',
  )
  return { indexed: Number(indexed), appended: Number(appended) }
}

function query(file: string, sql: string): unknown[][] {
  using db = new Database(file, { readonly: true })
  return db.query(sql).values()
}

// Does what any other program may do with the file: it opens a transaction, and keeps it open.
const HOLDER = `
  import { Database } from 'bun:sqlite'
  const [file, ms] = process.argv.slice(1)
  const db = new Database(file)
  db.run('BEGIN IMMEDIATE')
  console.log('held')
  const released = Bun.stdin.stream().getReader().read()
  await (ms ? Promise.race([released, Bun.sleep(Number(ms))]) : released)
  db.run('COMMIT')
  process.exit()
`

export interface HeldLock {
  /** Resolves when the lock is released. */
  readonly released: Promise<number>
  /** Releases the lock. */
  release(): Promise<number>
}

/** Lets another process take the write lock, until `release` is called or for a number of milliseconds. Resolves when it has the lock. */
export async function holdLock(file: string, ms?: number): Promise<HeldLock> {
  const holder = Bun.spawn(
    [process.execPath, '-e', HOLDER, file, ...(ms === undefined ? [] : [String(ms)])],
    {
      stdin: 'pipe',
      stdout: 'pipe',
    },
  )
  await holder.stdout.getReader().read()
  return {
    released: holder.exited,
    release() {
      holder.stdin.end()
      return holder.exited
    },
  }
}
