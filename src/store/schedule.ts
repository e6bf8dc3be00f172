/** The schedule of compaction: when a service compacts, and what it says when that fails. A command compacts before it works. */

/** The outcome of a slice of compaction. */
export interface Slice {
  /** By how many addresses the run is further, repeats included. Each counts once. */
  readonly done: number
  /** Whether there may be more: then another slice follows. */
  readonly hasMore: boolean
}

/**
 * Runs a slice of compaction in one transaction, so that others can write between two slices. The list has no state of it:
 * a crash repeats what is not moved, and several processes may compact at once.
 */
export type Compact = () => Slice | Promise<Slice>

export interface Schedule {
  /** Call it after each commit of addresses. */
  committed(): void
  /** Whether a slice failed, and no run has ended since. */
  isFailing(): boolean
  /** Stops compaction. Resolves when no slice is running. */
  stop(): Promise<void>
}

/** Compaction starts after this many milliseconds without a commit. */
const IDLE_MS = 250

/** It starts also while commits come in, when an address has waited for this many milliseconds. */
const MAX_WAIT_MS = 10_000

/** An address that is in the inbox for this many milliseconds shows that compaction fails, or that no process compacts. */
export const STALLED_MS = 5 * 60_000

/** Milliseconds until compaction is tried again after a failure. */
const RETRY_MS = 2_000

/**
 * Creates the schedule of a service. A run moves the inbox in slices, until a slice finds no more. The first run comes after
 * IDLE_MS or with the first commit, for what an earlier process left.
 */
export function createSchedule(compact: Compact, log: (level: 'info' | 'warn', text: string) => void): Schedule {
  let timer: Timer | undefined
  /** Resolves when no slice runs. */
  let sliceEnd = Promise.resolve()
  let [isFailing, isStopped] = [false, false]
  let commits = 0
  /** No address that waits came before this time. Undefined: none waits. */
  let oldestAt: number | undefined = Number.NEGATIVE_INFINITY
  /** The run in progress: its start, and how many commits there were at its start and at the end of its last slice. */
  let run: { readonly startedAt: number; readonly commits: number; seen: number } | undefined

  function planRun(): void {
    if (isStopped || run || oldestAt === undefined) return
    const dueIn = Math.max(oldestAt + MAX_WAIT_MS - performance.now(), 0)
    planSlice(Math.min(IDLE_MS, dueIn))
  }

  function planSlice(milliseconds: number): void {
    clearTimeout(timer)
    timer = setTimeout(() => {
      sliceEnd = runSlice()
    }, milliseconds)
  }

  async function runSlice(): Promise<void> {
    const startedAt = performance.now()
    run ??= { startedAt, commits, seen: commits }
    try {
      const { hasMore } = await compact()
      if (isStopped) return
      if (hasMore) {
        // While commits come in, compaction takes at most half of the time.
        planSlice(commits > run.seen ? performance.now() - startedAt : 0)
        run.seen = commits
        return
      }
      if (isFailing) log('info', 'compaction works again')
      isFailing = false
      oldestAt = commits > run.commits ? run.startedAt : undefined
      run = undefined
      planRun()
    } catch (error) {
      // A stop may cut a slice off.
      if (isStopped) return
      // Nothing is lost: the addresses stay in the inbox, on stable storage.
      const reason = error instanceof Error ? error.message : String(error)
      if (!isFailing) log('warn', `compaction fails: addresses wait in the inbox: ${reason}`)
      isFailing = true
      planSlice(RETRY_MS)
    }
  }

  planSlice(IDLE_MS)

  return {
    committed() {
      commits++
      oldestAt ??= performance.now()
      planRun()
    },
    isFailing: () => isFailing,
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await sliceEnd
    },
  }
}

/** Shows how far the compaction of a command is, in addresses. */
export type CompactionProgress = (done: number, total: number) => void

/** Milliseconds between two slices of a command, so that others can write. */
const PAUSE_MS = 2

/**
 * Compacts for a command, in slices, so that others can write in between. One that writes then takes the lock, and compacts
 * the rest under it.
 *
 * @param compact must move only what was accepted before the call: otherwise this may not end
 * @param total addresses in the inbox
 */
export async function compactAll(compact: Compact, total: number, onProgress?: CompactionProgress): Promise<void> {
  let sum = 0
  for (;;) {
    const { done, hasMore } = await compact()
    sum += done
    onProgress?.(sum, total)
    if (!hasMore) return
    await Bun.sleep(PAUSE_MS)
  }
}
