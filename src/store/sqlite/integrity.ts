import { Database } from 'bun:sqlite'
import { StoreError } from '../../subscriber.ts'
import { readFileHeader } from './header.ts'
import { getRow } from './row.ts'

/**
 * Checks every page of a copy that no process has open.
 *
 * @param name the name of the copy in the error
 * @throws StoreError when it is damaged, SQLiteError when it cannot be read
 */
export function checkIntegrity(file: string, name = 'the copy'): void {
  using db = new Database(file, { readonly: true })
  const { integrity_check: result } = getRow(db.query<{ integrity_check: string }, []>('PRAGMA integrity_check'))
  if (result !== 'ok') throw new StoreError(`${name} is damaged: ${result}`)
}

/**
 * Checks that a copy of the present schema has as many subscribers as the list had counted at the moment of the copy.
 * The list itself may have changed since.
 *
 * @throws StoreError when it is incomplete, SQLiteError when it cannot be read
 */
export function checkComplete(file: string): void {
  using db = new Database(file, { readonly: true })
  const { copied, counted } = getRow(
    db.query<{ copied: number; counted: number }, []>(
      'SELECT (SELECT count(*) FROM subscribers) AS copied, subscribers AS counted FROM counts',
    ),
  )
  if (copied === counted) return
  throw new StoreError(`the copy is incomplete: it has ${copied} addresses, and the list counted ${counted}`)
}

/**
 * Checks that a copy is closed: it may be put next to a log (WAL), and must be told from the file of that log. See
 * findForeignLog.
 *
 * @throws StoreError
 */
export function checkClosed(file: string): void {
  const header = readFileHeader(file)
  if (!header || header === 'empty' || header.isWal) throw new StoreError('the copy cannot be closed')
}
