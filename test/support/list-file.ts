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

// What another program may do with the file: a transaction is open, and nothing more.
const HOLDER = `
  import { Database } from 'bun:sqlite'
  const [file, ms] = process.argv.slice(1)
  const db = new Database(file)
  db.run('BEGIN IMMEDIATE')
  console.log('held')
  await Bun.sleep(Number(ms))
  db.run('COMMIT')
`

/** Has another process take the write lock for so many milliseconds; resolves when it is taken. */
export async function holdLock(file: string, ms: number): Promise<{ readonly released: Promise<number> }> {
  const holder = Bun.spawn([process.execPath, '-e', HOLDER, file, String(ms)], { stdout: 'pipe' })
  await holder.stdout.getReader().read()
  return { released: holder.exited }
}
