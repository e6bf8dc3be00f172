/** The checks of a SQLite list. They write nothing, create nothing, and keep no service from writing. */

import type { Database } from 'bun:sqlite'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { StoreError } from '../../subscriber.ts'
import { type CheckResult, type CursorCheck, runCheck } from '../check.ts'
import { prepareCompaction, type Run } from './compaction-statements.ts'
import { countRows, createCounts } from './counts.ts'
import { checkFiles, checkList } from './file-checks.ts'
import { toRealPath } from './header.ts'
import { checkIndex } from './index-check.ts'
import { readVersion, SCHEMA_VERSION } from './migrations.ts'
import { readNumbering } from './numbering.ts'
import { getRow } from './row.ts'
import { toLargeBacklog } from './schedule.ts'
import { readUnchanged } from './unchanged-read.ts'

/** Milliseconds in which compaction must advance when the inbox is large. Reading the addresses of a run takes one or two seconds. */
const ADVANCE_MS = 10_000
const LOOK_MS = 250

/**
 * Runs all checks of a list. Without a list of the present schema, only those that need none.
 *
 * @param advanceMs see ADVANCE_MS
 */
export async function* checkSqliteList(
  file: string,
  cursors: readonly CursorCheck[],
  advanceMs = ADVANCE_MS,
): AsyncGenerator<CheckResult> {
  const path = toRealPath(resolve(file))
  const list = await runCheck('list', () => checkList(path))
  yield list
  yield* checkFiles(path)
  if (!list.ok) return
  const schema = await runCheck('schema', () => readUnchanged(path, checkSchema))
  yield schema
  yield runCheck('integrity', () => readUnchanged(path, checkPages))
  if (!schema.ok) return
  yield runCheck('index', () => `finds all subscribers: ${readUnchanged(path, checkIndex)}`)
  yield runCheck('counts', () => readUnchanged(path, checkCounts))
  yield runCheck('inbox', () => checkInbox(path, advanceMs))
  for (const { check, run } of cursors) yield runCheck(check, () => run(readUnchanged(path, readNumbering)))
}

function checkSchema(db: Database): string {
  const version = readVersion(db)
  if (version === SCHEMA_VERSION) return `version ${version}`
  const advice = '"rollcall count" migrates it, and an older Rollcall cannot open it then'
  throw new StoreError(`it is version ${version}, and this Rollcall uses version ${SCHEMA_VERSION}: ${advice}`)
}

/** Compares the counts with the rows, at one moment. */
function checkCounts(db: Database): string {
  const [kept, found] = db.transaction(() => [createCounts(db).read(), countRows(db)] as const)()
  if (isDeepStrictEqual(kept, found)) return `${found.subscribers} subscribers, ${found.suppressed} suppressed`
  const advice = 'write the list to a new file with "rollcall copy", which counts it, and use that file'
  throw new StoreError(`the list counts ${kept.subscribers} subscribers, and has ${found.subscribers}; ${advice}`)
}

function checkPages(db: Database): string {
  const { integrity_check: found } = getRow(db.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)'))
  if (found === 'ok') return 'every page was read'
  throw new StoreError(`the list is damaged: restore a backup (${found})`)
}

interface Inbox extends Run {
  readonly waiting: number
  /** When the oldest address was accepted, in milliseconds since 1970. */
  readonly since: number | null
  /** The number of waiting addresses at which a service compacts without a pause. */
  readonly large: number
}

async function checkInbox(path: string, advanceMs: number): Promise<string> {
  const first = readUnchanged(path, readInbox)
  const text = `waiting for compaction: ${first.waiting.toLocaleString('en')}`
  const since = first.since ? `, the oldest since ${new Date(first.since).toISOString()}` : ''
  for (const end = performance.now() + advanceMs; performance.now() < end; await sleep(LOOK_MS)) {
    if (first.waiting <= first.large) return `${text}${since}`
    const next = readUnchanged(path, readInbox)
    if (next.start !== first.start || next.cursor !== first.cursor) return `${text}, and compaction advances`
  }
  throw new StoreError(`${text}${since}, and no process compacts: start the service, or run "rollcall count"`)
}

function readInbox(db: Database): Inbox {
  return db.transaction(() => {
    const { run } = prepareCompaction(db)
    const rest = db.query<{ since: number | null; waiting: number }, []>(
      `SELECT (SELECT accepted_at FROM inbox WHERE addresses <> '[]' ORDER BY first_seq LIMIT 1) AS since,
              (SELECT coalesce(sum(json_array_length(addresses)), 0) FROM inbox) AS waiting`,
    )
    return { ...getRow(run), ...getRow(rest), large: toLargeBacklog(createCounts(db).read().subscribers) }
  })()
}
