/**
 * A disk that loses power: replays recorded calls, and says what may be on it after a cut.
 *
 * What was synced is there. Every unsynced write and truncate may be there or not, in any order, and a write may be
 * there in part, in units of a sector. Changes of a folder come back in their order, up to some point. That is what
 * POSIX leaves open, and more than a journaling file system does.
 *
 * A sync that fails means that the system could not write, and gave up: what was written before it is not on the disk, and no later
 * sync brings it there (Rebello et al., "Can Applications Recover from fsync Failures?", USENIX ATC 2020). As on ext4, a new part of a
 * file that could not be written has zeros after a cut, even if it is written and synced again, until the system is asked to forget its
 * copies of the file, or the part is cut off.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Random } from '../random.ts'
import type { Call } from '../strace.ts'

/** What happens to the operations that no sync covers. */
export const CUTS = ['drop all', 'keep all', 'keep the first', 'keep some', 'tear'] as const
export type Cut = (typeof CUTS)[number]

/** A write, or a truncate to a size. `at` is when it had ended. */
type Change = { readonly at: number } & (
  | { readonly offset: number; readonly data: Uint8Array }
  | { readonly size: number }
)

interface DiskFile {
  /** As of the last sync. */
  readonly synced: Uint8Array<ArrayBuffer>
  readonly changes: Change[]
  /** Where a write without an offset goes. */
  end: number
  /** Parts that keep their zeros, whatever is written to them. */
  holes: Part[]
}

/** From an offset to before another one. */
interface Part {
  readonly from: number
  readonly to: number
}

/** A change of a folder. Without a file, the name goes away. */
interface Renaming {
  readonly at: number
  readonly names: readonly { readonly path: string; readonly file: DiskFile | 'folder' | undefined }[]
}

export interface Disk {
  /** Takes the next call, in the order in which calls ended. */
  apply(call: Call): void
  /** Writes the files as they may be after a cut at this moment. `toPath` says where each file goes. */
  cut(kind: Cut, random: Random, toPath: (path: string) => string): void
}

/** Disks write sectors of 512 bytes whole or not at all. */
const SECTOR = 512

/** More bytes than any file of a recorded run has. */
const LARGEST = 2 ** 28

/** Creates an empty disk of the files in a folder. Folders that are not made during the recording are there from the start. */
export function createDisk(root: string): Disk {
  const names = new Map<string, DiskFile | 'folder'>()
  const syncedNames = new Map<string, DiskFile | 'folder'>()
  const madeFolders = new Set<string>()
  const renamings = new Map<string, Renaming[]>()

  function rename(at: number, ...changed: Renaming['names']): void {
    applyRenaming(names, { at, names: changed })
    const folder = dirname(changed[0]?.path ?? '')
    renamings.set(folder, [...(renamings.get(folder) ?? []), { at, names: changed }])
  }

  function getFile(path: string): DiskFile | undefined {
    const file = names.get(path)
    return file === 'folder' ? undefined : file
  }

  function change(path: string, made: Change): void {
    const file = getFile(path)
    if (!file) return
    file.changes.push(made)
    // The file system gives the part away at once, and another one when it is written again.
    if ('size' in made) file.holes = file.holes.filter(({ from }) => from < made.size)
    file.end = 'size' in made ? made.size : made.offset + made.data.length
  }

  /** Makes durable what had ended before the sync began. */
  function sync(path: string, begin: number): void {
    const file = getFile(path)
    if (file) applyChanges(file.synced, takeDone(file.changes, begin), file.holes)
    else for (const renaming of takeDone(renamings.get(path) ?? [], begin)) applyRenaming(syncedNames, renaming)
  }

  /** Gives up what was written before the sync began. The size of a file is in the journal of the file system, and stays. */
  function giveUp(path: string, begin: number): void {
    const file = getFile(path)
    if (!file) return
    const done = takeDone(file.changes, begin)
    const size = file.synced.length
    for (const made of done) {
      if (!('data' in made)) continue
      const hole = { from: Math.max(size, made.offset), to: made.offset + made.data.length }
      if (hole.from < hole.to) file.holes.push(hole)
    }
    const sizes = done.filter((made) => 'size' in made)
    applyChanges(file.synced, sizes)
  }

  function forgetCopies(path: string): void {
    const file = getFile(path)
    if (file) file.holes = []
  }

  return {
    apply(call) {
      const { path, begin, end: at } = call
      if (!path.startsWith(root)) return
      if (call.kind === 'sync') sync(path, begin)
      else if (call.kind === 'failed sync') giveUp(path, begin)
      else if (call.kind === 'forget') forgetCopies(path)
      else if (call.kind === 'truncate') change(path, { at, size: call.size })
      else if (call.kind === 'write')
        change(path, { at, offset: call.offset ?? getFile(path)?.end ?? 0, data: call.data })
      else if (call.kind === 'unlink') rename(at, { path, file: undefined })
      else if (call.kind === 'rename') rename(at, { path, file: undefined }, { path: call.to, file: names.get(path) })
      else if (call.kind === 'mkdir') {
        madeFolders.add(path)
        rename(at, { path, file: 'folder' })
      } else if (call.kind === 'open' && call.isCreated) {
        if (!names.has(path)) rename(at, { path, file: { synced: toContent(), changes: [], end: 0, holes: [] } })
        else if (call.isTruncated) change(path, { at, size: 0 })
      }
    },

    cut(kind, random, toPath) {
      const after = new Map(syncedNames)
      for (const list of renamings.values()) {
        // A file system keeps their order.
        const length = kind === 'drop all' ? 0 : kind === 'keep all' ? list.length : random.between(0, list.length)
        for (const renaming of list.slice(0, length)) applyRenaming(after, renaming)
      }
      const isReachable = (path: string): boolean =>
        path === dirname(path) || ((!madeFolders.has(path) || after.has(path)) && isReachable(dirname(path)))
      for (const [path, file] of after) {
        if (file === 'folder' || !isReachable(dirname(path))) continue
        mkdirSync(dirname(toPath(path)), { recursive: true })
        const content = toContent(file.synced)
        applyChanges(content, chooseChanges(file.changes, kind, random), file.holes)
        writeFileSync(toPath(path), content)
      }
    },
  }
}

/** Takes what had ended at a moment off the start of a list. */
function takeDone<Operation extends { readonly at: number }>(pending: Operation[], begin: number): Operation[] {
  const end = pending.findIndex(({ at }) => at > begin)
  return pending.splice(0, end < 0 ? pending.length : end)
}

/** The changes that a cut leaves on the disk. */
function chooseChanges(changes: readonly Change[], kind: Cut, random: Random): Change[] {
  const first = random.between(0, changes.length)
  return changes.flatMap((change, index) => {
    if (kind === 'tear' && 'data' in change) return toSectors(change).filter(() => random.chance(0.5))
    const isKept =
      kind === 'keep all' || (kind !== 'drop all' && (kind === 'keep the first' ? index < first : random.chance(0.5)))
    return isKept ? [change] : []
  })
}

/** Splits a write into its sectors. */
function toSectors({ at, offset, data }: Extract<Change, { data: Uint8Array }>): Change[] {
  const sectors: Change[] = []
  for (let from = 0; from < data.length; ) {
    const to = Math.min(data.length, from + SECTOR - ((offset + from) % SECTOR))
    sectors.push({ at, offset: offset + from, data: data.subarray(from, to) })
    from = to
  }
  return sectors
}

/** The content of a file. It grows in place, and a gap that a write leaves is zeros. */
function toContent(bytes = new Uint8Array()): Uint8Array<ArrayBuffer> {
  const content = new Uint8Array(new ArrayBuffer(bytes.length, { maxByteLength: LARGEST }))
  content.set(bytes)
  return content
}

function applyChanges(content: Uint8Array<ArrayBuffer>, changes: readonly Change[], holes: readonly Part[] = []): void {
  for (const change of changes) {
    const size = 'size' in change ? change.size : Math.max(content.length, change.offset + change.data.length)
    content.buffer.resize(size)
    if ('data' in change) content.set(change.data, change.offset)
  }
  for (const { from, to } of holes) content.fill(0, from, to)
}

function applyRenaming(files: Map<string, DiskFile | 'folder'>, { names }: Renaming): void {
  for (const { path, file } of names) {
    if (file) files.set(path, file)
    else files.delete(path)
  }
}
