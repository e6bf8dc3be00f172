import { realpathSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { Command } from 'commander'
import { Failure, UsageError } from '../failure.ts'
import { copySqlite } from '../store/sqlite/backup.ts'
import { renameSynced, toPartialName } from '../transfer/writing/sink.ts'
import { interruptible } from './interrupt.ts'
import { createListCommand, type ListOption, toList } from './list.ts'
import { print, printJson } from './output.ts'
import { createProgress } from './progress.ts'

/** `rollcall backup`: a consistent copy of a SQLite list, while the service writes. */
export function createBackupCommand(): Command {
  return createListCommand(
    'backup',
    'copy a SQLite list to a file while it is in use; the copy is checked before it takes its name',
    'rollcall backup backups/rollcall-2026-11-21.db',
  )
    .argument('<file>', 'where the copy goes; one that is there is replaced')
    .option('--json', 'the summary as JSON')
    .action(async (file: string, options: ListOption & { json?: true }) => {
      const list = toList(options)
      if (list.kind !== 'sqlite') {
        throw new Failure(
          'this list is in PostgreSQL: use pg_dump, or the continuous archiving of your server; rollcall copy copies it to a SQLite file',
        )
      }
      if (isSameFile(list.file, file)) throw new UsageError(`${file} is the list itself`)
      const subscribers = await interruptible((signal) => backUp(list.file, file, signal))
      await (options.json ? printJson({ file, subscribers }) : print(`${file}: ${subscribers} addresses`))
    })
}

async function backUp(list: string, file: string, signal: AbortSignal): Promise<number> {
  const partial = toPartialName(file)
  const progress = await createProgress('copying', async () => toSize(list))
  const timer = setInterval(() => progress.update(toSize(partial), 0), 200)
  try {
    const subscribers = await copySqlite(list, partial, signal)
    await renameSynced(partial, file)
    return subscribers
  } catch (error) {
    for (const suffix of ['', '-journal', '-wal', '-shm']) await rm(partial + suffix, { force: true })
    throw error
  } finally {
    clearInterval(timer)
    progress.stop()
  }
}

function toSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

function isSameFile(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other)
  } catch {
    return false
  }
}
