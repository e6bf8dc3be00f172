import { toListName } from '../config/list-url.ts'
import { findFile, renameSynced, withPartialFile } from '../files.ts'
import { checkAndCopy } from '../store/sqlite/backup.ts'
import { toCount } from '../words.ts'
import { createProgress, print, printJson } from './output.ts'
import { parseSqliteOption, type VerbOptions, withInterrupt, withStore } from './shared.ts'

/** `rollcall backup`: writes a consistent copy of a SQLite list. */
export async function backup(file: string, { json, ...options }: VerbOptions): Promise<void> {
  const list = parseSqliteOption(options, 'pg_dump, or rollcall copy to a SQLite file')
  const path = await findFile(file, { isBackup: true })
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
