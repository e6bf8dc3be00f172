/**
 * A disk that loses power: replays recorded operations, and says what may be on it after a cut.
 *
 * What was synced is there. Every unsynced write and truncate may be there or not, in any order, and a write may be
 * there in part, in units of a sector. Changes of a folder come back in their order, up to some point. That is what
 * POSIX leaves open, and more than a journaling file system does.
 */

import { constants, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Random } from '../random.ts'
import { type Change, createFileBytes, type FileBytes, toSectors } from './file-bytes.ts'
import type { Record } from './recording.ts'

/** What happens to the operations that no sync covers. */
export const CUTS = ['drop all', 'keep all', 'keep the first', 'keep some', 'tear'] as const
export type Cut = (typeof CUTS)[number]

/** An operation that no sync covers yet, with its place in the order. */
type Pending<Operation> = Operation & { readonly at: number }

interface DiskFile {
  /** As of the last sync. */
  readonly synced: FileBytes
  changes: Pending<Change>[]
}

/** A change of a folder. Without a file, the name goes away. */
interface Renaming {
  readonly names: readonly { readonly path: string; readonly file: DiskFile | 'folder' | undefined }[]
}

export interface Disk {
  /** Takes the next operation. */
  apply(record: Record): void
  /** Writes the files as they may be after a cut at this moment. `toPath` says where each file goes. */
  cut(kind: Cut, random: Random, toPath: (path: string) => string): void
}

/** Creates an empty disk. Folders that are not made during the recording are there from the start. */
export function createDisk(): Disk {
  const inodes = new Map<number, DiskFile>()
  const names = new Map<string, DiskFile | 'folder'>()
  const syncedNames = new Map<string, DiskFile | 'folder'>()
  const madeFolders = new Set<string>()
  const folders = new Map<number, string>()
  const renamings = new Map<string, Pending<Renaming>[]>()
  const begun = new Map<bigint, number>()
  let at = 0

  function rename(...changed: Renaming['names']): void {
    applyRenaming(names, { names: changed })
    const folder = dirname(changed[0]?.path ?? '')
    renamings.set(folder, [...(renamings.get(folder) ?? []), { at, names: changed }])
  }

  function open(inode: number, path: string, flags: number): void {
    if (flags & constants.O_DIRECTORY) return void folders.set(inode, path)
    const known = inodes.get(inode)
    if (!known || names.get(path) !== known) {
      const file = { synced: createFileBytes(), changes: [] }
      inodes.set(inode, file)
      rename({ path, file })
    } else if (flags & constants.O_TRUNC) known.changes.push({ at, size: 0 })
  }

  /** Makes durable what came before the sync began. */
  function sync(inode: number, before: number): void {
    const folder = folders.get(inode)
    const file = inodes.get(inode)
    if (folder !== undefined) {
      const [done, left] = splitAt(renamings.get(folder) ?? [], before)
      for (const renaming of done) applyRenaming(syncedNames, renaming)
      renamings.set(folder, left)
    } else if (file) {
      const [done, left] = splitAt(file.changes, before)
      for (const change of done) file.synced.apply(change)
      file.changes = left
    }
  }

  return {
    apply(record) {
      at++
      switch (record.kind) {
        case 'open':
          return open(record.inode, record.path, record.flags)
        case 'write':
          return void inodes.get(record.inode)?.changes.push({ at, offset: record.offset, data: record.data })
        case 'truncate':
          return void inodes.get(record.inode)?.changes.push({ at, size: record.size })
        case 'syncBegin':
          return void begun.set(record.id, at)
        case 'syncEnd':
          if (record.isDone) sync(record.inode, begun.get(record.id) ?? 0)
          return
        case 'unlink':
          return rename({ path: record.path, file: undefined })
        case 'rename':
          return rename({ path: record.from, file: undefined }, { path: record.to, file: names.get(record.from) })
        case 'mkdir':
          madeFolders.add(record.path)
          return rename({ path: record.path, file: 'folder' })
      }
    },

    cut(kind, random, toPath) {
      const after = new Map(syncedNames)
      for (const list of renamings.values()) {
        for (const renaming of list.slice(0, toPrefix(kind, random, list.length))) {
          applyRenaming(after, renaming)
        }
      }
      const isReachable = (path: string): boolean =>
        path === dirname(path) || ((!madeFolders.has(path) || after.has(path)) && isReachable(dirname(path)))
      for (const [path, file] of after) {
        if (file === 'folder' || !isReachable(dirname(path))) continue
        mkdirSync(dirname(toPath(path)), { recursive: true })
        writeFileSync(toPath(path), toBytesAfter(file, kind, random))
      }
    },
  }
}

function splitAt<Operation>(
  all: readonly Pending<Operation>[],
  at: number,
): [Pending<Operation>[], Pending<Operation>[]] {
  // Operations are in their order.
  const end = all.findIndex((one) => one.at >= at)
  return end < 0 ? [[...all], []] : [all.slice(0, end), all.slice(end)]
}

/** How many of the changes of a folder are there: a file system keeps their order. */
function toPrefix(kind: Cut, random: Random, length: number): number {
  if (kind === 'drop all') return 0
  return kind === 'keep all' ? length : random.between(0, length)
}

function toBytesAfter({ synced, changes }: DiskFile, kind: Cut, random: Random): Uint8Array {
  if (kind === 'drop all') return synced.toBytes()
  const after = synced.clone()
  const first = random.between(0, changes.length)
  for (const [index, change] of changes.entries()) {
    if (kind === 'tear' && 'data' in change) {
      for (const sector of toSectors(change)) if (random.chance(0.5)) after.apply(sector)
    } else if (kind === 'keep all' || (kind === 'keep the first' ? index < first : random.chance(0.5))) {
      after.apply(change)
    }
  }
  return after.toBytes()
}

function applyRenaming(files: Map<string, DiskFile | 'folder'>, { names }: Renaming): void {
  for (const { path, file } of names) {
    if (file) files.set(path, file)
    else files.delete(path)
  }
}
