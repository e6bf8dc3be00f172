import { toListName } from '../config/list-url.ts'
import { toCount, UsageError } from '../failure.ts'
import { findFile, renameSynced, withPartialFile } from '../files.ts'
import { isSameList } from '../store/open.ts'
import { checkAndCopy } from '../store/sqlite/backup.ts'
import { createProgress, print, printJson } from './output.ts'
import { parseSqliteOption, type VerbOptions, withInterrupt, withStore } from './shared.ts'

/** `rollcall backup`: writes a consistent copy of a SQLite list. */
export async function backup(file: string, { json, ...options }: VerbOptions): Promise<void> {
  const list = parseSqliteOption(options, 'pg_dump, or rollcall copy to a SQLite file')
  const path = await findFile(file, { isBackup: true })
  // A list that was restored, and not opened since, looks like a backup.
  if (await isSameList(list, { kind: 'sqlite', file: path }))
    throw new UsageError(`${file} is the list: choose another file`)
  // The list stays open meanwhile: a list that nobody has open would be read without locks.
  const { subscribers } = await withStore(list, () =>
    withInterrupt((signal) =>
      withPartialFile(path, file, async (partial) => {
        const showProgress = createProgress('copying', 'MB')
        const copied = await checkAndCopy({ source: list.file, target: partial }, signal, showProgress)
        await renameSynced(partial, path)
        return copied
      }),
    ),
  )
  if (json) return await printJson({ list: toListName(list), file, subscribers })
  await print(`${file}: ${toCount(subscribers, 'address', 'addresses')} of ${toListName(list)}`)
}
