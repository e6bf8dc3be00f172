import { Database } from 'bun:sqlite'
import { StoreError } from '../../subscriber.ts'
import { getRow } from './row.ts'

/**
 * Checks every page of a copy that no process has open.
 *
 * @throws StoreError when it is damaged, SQLiteError when it cannot be read
 */
export function checkIntegrity(file: string): void {
  using db = new Database(file, { readonly: true })
  const { integrity_check: result } = getRow(db.query<{ integrity_check: string }, []>('PRAGMA integrity_check'))
  if (result !== 'ok') throw new StoreError(`the copy is damaged: ${result}`)
}
