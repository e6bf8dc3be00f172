/**
 * Counts the system calls that make data durable, in a real process of the service or the command line. It works without
 * a C compiler on the machine: see sync-counter.c. It needs Linux, as the other tests do; where the kernel refuses the
 * filter, the process does not start, so that no test is skipped in silence.
 */

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { PRELOADED } from './service.ts'
import { createFolder } from './workspace.ts'

/** A system call of the process, in the order in which they ended. */
export interface SyncEvent {
  /** `sync` is fsync or fdatasync; `write` is to standard output only; `pread` and `pwrite` are those that fail. */
  readonly call: 'sync' | 'rename' | 'write' | 'pread' | 'pwrite'
  readonly ok: boolean
  /** The size of the file when it was synced, or the number of bytes that were written. */
  readonly bytes: number
  /** Whether the descriptor that was synced can write. */
  readonly isWriter: boolean
  /** The file; for a rename its new name. */
  readonly path: string
}

export type SyncCounter = Awaited<ReturnType<typeof createSyncCounter>>

/** Creates a counter for one process; it is removed when the test ends. */
export async function createSyncCounter() {
  const folder = await realpath(await createFolder())
  const [log, fail, hold] = ['log', 'fail', 'hold'].map((name) => join(folder, name)) as [string, string, string]
  /** What the process has called so far. */
  const events = (): readonly SyncEvent[] =>
    existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1).map(toEvent) : []
  return {
    /** Settings that start the counting in a process. */
    env: { ...PRELOADED, SYNC_COUNTER: folder },
    events,
    /** How many syncs of a file or folder have succeeded so far. */
    count: (path: string) =>
      events().filter((event) => event.call === 'sync' && event.ok && event.path === path).length,
    /**
     * From now on these calls fail with EIO for one file; for a sync, it may be a folder. A late sync is one after the first rename
     * of the process. Undefined ends that.
     */
    failCallsOf: (call: 'sync' | 'late sync' | 'pread' | 'pwrite', path: string | undefined) =>
      path === undefined ? rmSync(fail, { force: true }) : writeFileSync(fail, `${call} ${path}`),
    /** From now on a sync of one file returns only when the returned function is called. */
    holdSyncsOf(path: string): () => void {
      writeFileSync(hold, `sync ${path}`)
      return () => rmSync(hold, { force: true })
    },
  }
}

function toEvent(line: string): SyncEvent {
  const [, call = '', result, size, writer, path = ''] =
    /^(sync|rename|p?write|pread) (-?\d+) (-?\d+) ([01]) (.*)$/.exec(line) ?? []
  const bytes = Number(call === 'sync' ? size : result)
  return { call: call as SyncEvent['call'], ok: Number(result) >= 0, bytes, isWriter: writer === '1', path }
}
