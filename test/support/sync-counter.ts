/**
 * Counts the system calls that make data durable, in a real process of the service or the command line. It works without
 * a C compiler on the machine: see sync-counter.c. It needs Linux, as the other tests do; where the kernel refuses the
 * filter, the process does not start, so that no test is skipped in silence.
 */

import { onTestFinished } from 'bun:test'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createFolder, type Environment, PRELOADED } from './service.ts'

/** A system call of the process, in the order in which they ended. */
export interface SyncEvent {
  /** `sync` is fsync or fdatasync; `write` is to standard output only; `pread` and `pwrite` are those that fail. */
  readonly call: 'sync' | 'rename' | 'write' | 'pread' | 'pwrite'
  readonly ok: boolean
  /** The size of the file when it was synced, or the number of bytes that were written. */
  readonly bytes: number
  /** The file; for a rename its new name. */
  readonly path: string
}

export interface SyncCounter {
  /** Settings that start the counting in a process. */
  readonly env: Environment
  /** What the process has called so far. */
  events(): readonly SyncEvent[]
  /** How many syncs of a file or folder have succeeded so far. */
  count(path: string): number
  /** From now on each sync of this file or folder fails with EIO; undefined ends that. */
  failSyncsOf(path: string | undefined): void
  /** The same for reads or writes of the pages of a file. One kind of call fails at a time. */
  failCallsOf(call: 'sync' | 'pread' | 'pwrite', path: string | undefined): void
}

/** Creates a counter for one process; it is removed when the test ends. */
export async function createSyncCounter(): Promise<SyncCounter> {
  const folder = await realpath(await createFolder())
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const [log, fail] = [join(folder, 'log'), join(folder, 'fail')]
  const events = () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1).map(toEvent) : [])
  const failCallsOf: SyncCounter['failCallsOf'] = (call, path) =>
    path === undefined ? rmSync(fail, { force: true }) : writeFileSync(fail, `${call} ${path}`)
  return {
    env: { ...PRELOADED, SYNC_COUNTER: folder },
    events,
    count: (path) => events().filter((event) => event.call === 'sync' && event.ok && event.path === path).length,
    failSyncsOf: (path) => failCallsOf('sync', path),
    failCallsOf,
  }
}

function toEvent(line: string): SyncEvent {
  const [, call = '', result, size, path = ''] = /^(sync|rename|p?write|pread) (-?\d+) (-?\d+) (.*)$/.exec(line) ?? []
  const bytes = Number(call === 'sync' ? size : result)
  return { call: call as SyncEvent['call'], ok: Number(result) >= 0, bytes, path }
}
