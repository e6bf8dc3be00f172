import type { Command } from 'commander'
import { Failure } from '../failure.ts'
import { toListName } from '../store/list-name.ts'
import type { Content } from '../store/sqlite/content-worker.ts'
import { describeMigration } from '../store/sqlite/file.ts'
import { type Restored, restoreList } from '../store/sqlite/restore.ts'
import { withInterrupt } from './interrupt.ts'
import { createListCommand, type ListOption, parseListOption } from './list-command.ts'
import { note, print, printJson, toCount } from './output.ts'

interface RestoreOptions extends ListOption {
  readonly dryRun?: true
  readonly json?: true
}

/** `rollcall restore`: puts a backup in the place of a SQLite list. */
export function createRestoreCommand(): Command {
  return createListCommand(
    'restore',
    'Put a backup in the place of a SQLite list that no process uses, and keep the earlier list under another name',
    'rollcall restore backups/rollcall-2026-11-21.db',
  )
    .argument('<file>', 'The backup; it stays as it is')
    .option('--dry-run', 'Check the backup, and change nothing')
    .option('--json', 'Print the summary as JSON')
    .action(async (file: string, options: RestoreOptions) => {
      const list = parseListOption(options)
      if (list.kind !== 'sqlite') {
        throw new Failure(
          'restore works on SQLite lists only: use pg_restore for PostgreSQL, or rollcall copy from a SQLite file',
        )
      }
      const { dryRun } = options
      const isOlder = describeMigration(file) !== undefined
      if (isOlder) note(`${file} has an older schema: its copy is migrated, and the backup stays as it is`)
      const restored = await withInterrupt((signal) => restoreList(file, list.file, { dryRun, signal }))
      noteProblems(restored)
      const name = toListName(list)
      await (options.json
        ? printJson('restore', { file, list: name, dry_run: dryRun ?? false, ...toJson(restored) })
        : print(toText(name, restored, dryRun)))
    })
}

function noteProblems({ before, foreignLog }: Restored): void {
  if (typeof before === 'string') note(`the earlier list could not be read: ${before}`)
  if (foreignLog !== undefined) note(`${foreignLog} was not used: it is the log of another list`)
}

function toJson({ before, after, kept }: Restored) {
  return {
    kept_files: kept,
    before: typeof before === 'object' ? toContentJson(before) : null,
    after: toContentJson(after),
  }
}

function toContentJson({ lastAcceptedAt, ...counts }: Content) {
  return { ...counts, last_accepted_at: lastAcceptedAt?.toISOString() ?? null }
}

function toText(list: string, { before, after, kept }: Restored, dryRun: true | undefined): string {
  const rows = [
    ['list', list],
    ['before', before === undefined ? 'no list' : typeof before === 'string' ? 'not known' : toLine(before)],
    ['after', toLine(after)],
    ...(dryRun ? [['dry run', 'nothing was changed']] : kept.map((file) => ['kept', file])),
  ]
  return rows.map(([name = '', value]) => `${name.padEnd(9)}${value}`).join('\n')
}

function toLine({ subscribers, reserved, suppressed, lastAcceptedAt }: Content): string {
  const last = lastAcceptedAt ? `, the last one accepted ${lastAcceptedAt.toISOString()}` : ''
  const size = toCount(subscribers, 'address', 'addresses')
  return `${size}, ${reserved.toLocaleString('en')} of them reserved${last}; ${suppressed.toLocaleString('en')} suppressed`
}
