import { statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { Command } from 'commander'
import type { ListUrl } from '../config/list-url.ts'
import { Failure } from '../failure.ts'
import { findFile, renameSynced, toPartialName } from '../files.ts'
import { copySqlite } from '../store/sqlite/backup.ts'
import { withInterrupt } from './interrupt.ts'
import { createListCommand, type ListOption, parseListOption } from './list-command.ts'
import { print, printJson, toCount } from './output.ts'
import { createProgress } from './progress.ts'

/** `rollcall backup`: writes a consistent copy of a SQLite list. */
export function createBackupCommand(): Command {
  return createListCommand(
    'backup',
    'Copy a SQLite list to a file and check the copy, also while the service runs',
    'rollcall backup backups/rollcall-2026-11-21.db',
  )
    .argument('<file>', 'The file to write; an existing file is replaced when the copy is complete')
    .option('--json', 'Print the summary as JSON')
    .action(async (file: string, options: ListOption & { json?: true }) => {
      const list = parseListOption(options)
      if (list.kind !== 'sqlite') {
        throw new Failure(
          'backup works on SQLite lists only: use pg_dump or continuous archiving for PostgreSQL, or rollcall copy to a SQLite file',
        )
      }
      const subscribers = await withInterrupt((signal) => writeBackup(list, file, signal))
      const summary = `${file}: ${toCount(subscribers, 'address', 'addresses')}`
      await (options.json ? printJson('backup', { file, subscribers }) : print(summary))
    })
}

async function writeBackup(list: ListUrl & { kind: 'sqlite' }, file: string, signal: AbortSignal): Promise<number> {
  const path = await findFile(file, list, { isBackup: true })
  const partial = toPartialName(path)
  const progress = await createProgress('copying', { unit: 'bytes', findTotal: async () => toSize(list.file) })
  const timer = setInterval(() => progress.update(toSize(partial)), 200)
  try {
    const subscribers = await copySqlite(list.file, partial, signal)
    await renameSynced(partial, path)
    return subscribers
  } catch (error) {
    await removePartial(partial)
    throw error
  } finally {
    clearInterval(timer)
    progress.stop()
  }
}

async function removePartial(partial: string): Promise<void> {
  for (const suffix of ['', '-journal', '-wal', '-shm']) await rm(partial + suffix, { force: true })
}

function toSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
