import type { prepareCompaction, Run } from './compaction-statements.ts'

/** Rows in a page. */
const PAGE_SIZE = 4096

export type MatchList = ReturnType<typeof createMatchList>

/** Reads which addresses of a run have a row in `hash_matches`. The index pass has written them in another order. */
export function createMatchList(
  { start, end }: Run,
  statements: Pick<ReturnType<typeof prepareCompaction>, 'matches'>,
) {
  /** The ids of the rows, by the position of the address in the run; 0 for an address without. */
  let ids = new Uint32Array()
  let last = 0
  let isComplete = false

  // The start of the inbox moves during the append pass.
  const isOf = (run: Run) => run.end === end

  function readPage(): void {
    const page = statements.matches.all(last, PAGE_SIZE)
    if (page.length > 0 && ids.length === 0) ids = new Uint32Array(end - start)
    for (const { id, seq } of page) ids[seq - start] = id
    last = page.at(-1)?.id ?? last
    isComplete = page.length < PAGE_SIZE
  }

  return {
    isOf,

    /** Whether it has all of this run. */
    isReady: (run: Run) => isOf(run) && isComplete,

    /** Reads for about this many milliseconds, at least a page. Returns false when there was nothing left to read. */
    read(milliseconds: number): boolean {
      if (isComplete) return false
      const stop = performance.now() + milliseconds
      do readPage()
      while (!isComplete && performance.now() < stop)
      return true
    },

    /** Returns the ids for the addresses from one seq to before another, as a JSON array; undefined when there are none. */
    between(from: number, before: number): string | undefined {
      const found = ids.subarray(from - start, before - start).filter((id) => id > 0)
      return found.length === 0 ? undefined : `[${found.join()}]`
    },
  }
}
