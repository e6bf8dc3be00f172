/**
 * Keeps a number (seq) from being given out twice when a list continues from an older state, such as a restored backup
 * or a copy of its files. Unless the list is known to be in its latest state, numbering continues at the present time
 * in microseconds since 2026. No list has given out numbers at this rate, so this is above all that any state of the
 * list has given out before, and 2 ** 53 is reached in 285 years, however often numbering is continued.
 */

import type { Database } from 'bun:sqlite'
import type { Numbering } from '../../subscriber.ts'
import type { ListFile } from './list-file.ts'
import { getRow } from './row.ts'

/** The time at which the numbers of `toSafeNumber` begin, in milliseconds since 1970. */
const EPOCH_MS = Date.UTC(2026, 0, 1)

/** Numbers to skip when the clock is behind the list. */
const SKIP = 2 ** 32

const NEXT = 'SELECT first_seq + json_array_length(addresses) AS seq FROM inbox ORDER BY first_seq DESC LIMIT 1'

/** The first number to give out after an older state whose next number is `next`. */
export function toSafeNumber(next: number, nowMs = Date.now()): number {
  const number = (nowMs - EPOCH_MS) * 1000
  return number > next ? number : next + SKIP
}

/** Reads the numbering of a list. */
export function readNumbering(db: Database): Numbering {
  return getRow(db.query<Numbering, []>(`SELECT id AS list, (${NEXT}) - 1 AS last FROM list`))
}

/** Continues the numbering of a list. */
export function createNumbering(db: ListFile) {
  const statements = prepare(db)
  let isSettled = false

  function skip(): number {
    const number = toSafeNumber(getRow(statements.next).seq)
    statements.deleteEmpty.run()
    // The inbox is never empty: its last row has the next number.
    statements.continueAt.run(number)
    return number
  }

  return {
    /**
     * Skips numbers if the list may be in an older state. Call it before this connection gives out a number; a second
     * call does nothing. Blocks the thread while it waits for the lock.
     *
     * @returns the number at which numbering continues, on stable storage; undefined when none was skipped
     * @throws SQLiteError such as SQLITE_BUSY; the next call tries again
     */
    settle(): number | undefined {
      if (isSettled) return
      let hasSaved = false
      try {
        // Under the write lock: of several processes that open a list at once, only the first skips numbers.
        const number = db
          .transaction(() => {
            if (db.state.isOpen()) return
            const number = db.isLatest ? undefined : skip()
            db.state.saveOpen()
            hasSaved = true
            return number
          })
          .immediate()
        db.isLatest = true
        isSettled = true
        return number
      } catch (error) {
        // Another process must not rely on numbers that were not skipped after all.
        if (hasSaved) db.state.remove()
        throw error
      }
    },

    /** Saves again that this process has the latest state, if the process that saved it last has ended. */
    renew(): void {
      if (isSettled && !db.state.isOpen()) db.state.saveOpen()
    },

    read: () => readNumbering(db),
  }
}

function prepare(db: ListFile) {
  return {
    next: db.query<{ seq: number }, []>(NEXT),
    deleteEmpty: db.query<never, []>(`DELETE FROM inbox WHERE addresses = '[]'`),
    continueAt: db.query<never, [seq: number]>(`INSERT INTO inbox VALUES (?1, 0, '[]')`),
  }
}
