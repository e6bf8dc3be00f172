/** Finds in a recording which responses were sent after a sync that covers what they confirm. */

import type { Record } from './recording.ts'

export interface Coverage {
  /** Responses with 200 that follow a sync which began after the first write of their address. */
  readonly covered: number
  /** Addresses whose 200 came earlier. */
  readonly early: readonly string[]
  readonly syncs: number
}

interface Written {
  readonly inode: number
  isSynced: boolean
}

/**
 * Goes through a recording.
 *
 * @param asked the addresses that each peer sent, by its port, in their order; a connection answers in the same order
 * @param pattern finds the addresses in what is written; it has the flag `g`
 */
export function findCovered(
  records: Iterable<Record>,
  asked: ReadonlyMap<number, readonly string[]>,
  pattern: RegExp,
): Coverage {
  const written = new Map<string, Written>()
  const running = new Map<bigint, readonly Written[]>()
  const answered = new Map<number, number>()
  const early: string[] = []
  let unsynced: Written[] = []
  let covered = 0
  let syncs = 0

  function write(inode: number, text: string): void {
    for (const [email] of text.matchAll(pattern)) {
      if (written.has(email)) continue
      const entry = { inode, isSynced: false }
      written.set(email, entry)
      unsynced.push(entry)
    }
  }

  function endSync(id: bigint): void {
    syncs++
    for (const entry of running.get(id) ?? []) entry.isSynced = true
    unsynced = unsynced.filter(({ isSynced }) => !isSynced)
  }

  function answer(port: number): void {
    const index = answered.get(port) ?? 0
    answered.set(port, index + 1)
    const email = asked.get(port)?.[index]
    if (email === undefined) return
    if (written.get(email)?.isSynced) covered++
    else early.push(email)
  }

  for (const record of records) {
    if (record.kind === 'write') write(record.inode, record.data.toString('latin1'))
    else if (record.kind === 'syncEnd' && record.isDone) endSync(record.id)
    else if (record.kind === 'send' && record.start.startsWith('HTTP/1.1 200')) answer(record.port)
    else if (record.kind === 'syncBegin') {
      const { inode, id } = record
      running.set(
        id,
        unsynced.filter((entry) => entry.inode === inode),
      )
    }
  }
  return { covered, early, syncs }
}
