import { toListName } from '../config/list-url.ts'
import type { ListSummary } from '../store/sqlite/backup.ts'
import { type Restored, restoreList } from '../store/sqlite/restore.ts'
import { toCount, toNumber } from '../words.ts'
import { note, print, printJson } from './output.ts'
import { parseSqliteOption, type VerbOptions, withInterrupt } from './shared.ts'

type RestoreOptions = VerbOptions & { readonly dryRun?: true }

/** `rollcall restore`: replaces a SQLite list with a backup. */
export async function restore(file: string, { dryRun, json, ...options }: RestoreOptions): Promise<void> {
  const list = parseSqliteOption(options, 'pg_restore, or rollcall copy from a SQLite file')
  const restored = await withInterrupt((signal) => restoreList(file, list.file, { dryRun, signal }))
  const { before, after, keptFiles } = restored
  if (typeof before === 'string') note(`the list could not be read: ${before}`)
  const name = toListName(list)
  if (!json) return await print(toText(name, restored, dryRun))
  await printJson({
    file,
    list: name,
    dry_run: dryRun ?? false,
    kept_files: keptFiles,
    before: typeof before === 'object' ? toJson(before) : undefined,
    after: toJson(after),
  })
}

function toJson({ lastAcceptedAt, ...counts }: ListSummary) {
  return { ...counts, last_accepted_at: lastAcceptedAt }
}

function toText(list: string, { before, after, keptFiles }: Restored, dryRun: true | undefined): string {
  const kept = keptFiles.map((file) => ['kept', file])
  const rows = [
    ['list', list],
    ['before', toBefore(before)],
    ['after', toLine(after)],
    ...(dryRun ? [['dry run', 'nothing was changed']] : kept),
  ]
  return rows.map(([name = '', value]) => `${name.padEnd(9)}${value}`).join('\n')
}

/** @param before a text when there was a list that could not be read */
function toBefore(before: Restored['before']): string {
  if (before === undefined) return 'no list'
  if (typeof before === 'string') return 'not known'
  return toLine(before)
}

function toLine({ subscribers, reserved, suppressed, lastAcceptedAt, inbox }: ListSummary): string {
  const last = lastAcceptedAt ? `, the last one accepted ${lastAcceptedAt.toISOString()}` : ''
  const size = toCount(subscribers, 'address', 'addresses')
  const rest = inbox > 0 ? `; ${toNumber(inbox)} in the inbox` : ''
  return `${size}, ${toNumber(reserved)} of them reserved${last}; ${toNumber(suppressed)} suppressed${rest}`
}
