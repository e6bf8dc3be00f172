/** Whose the files and folders are that a command creates as root. */

import { lchownSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { toErrorCode } from './failure.ts'

/**
 * As root, gives what was created the owner and the group of a file that it replaces, or of the folder around it: what
 * `sudo rollcall` writes is for the user of the service, or for the person whose folder it is. For any other user, does nothing.
 */
export function takeOwner(from: string, give: (uid: number, gid: number) => void): void {
  if (process.geteuid?.() !== 0) return
  const { uid, gid } = statSync(from)
  try {
    give(uid, gid)
  } catch (error) {
    // The file system has no owners, or root is nobody there (NFS): then the file has the owner that all files have there.
    if (!/^(?:EPERM|EINVAL|ENOTSUP|EOPNOTSUPP|ENOSYS)$/.test(toErrorCode(error))) throw error
  }
}

/**
 * Creates a missing folder, and those above it. As root, each takes the owner of the folder around it.
 *
 * @param mode of the new ones, from which the umask may take permissions
 * @returns the new ones, from the first one inward
 */
export function createFolders(folder: string, mode: number): readonly string[] {
  const first = mkdirSync(folder, { recursive: true, mode })
  if (first === undefined) return []
  const created: string[] = []
  for (let path = folder; path.length >= first.length; path = dirname(path)) created.unshift(path)
  for (const path of created) giveFolderToOwner(path)
  return created
}

/** Gives a new folder the owner of the folder around it: see `takeOwner`. */
function giveFolderToOwner(folder: string): void {
  takeOwner(dirname(folder), (uid, gid) => lchownSync(folder, uid, gid))
}
