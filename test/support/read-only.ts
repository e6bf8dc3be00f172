/** Places that a process cannot write to. */

import { statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Starts a command whose writes all fail, as on a full disk: see disk.ts. */
export const NO_SPACE = ['sh', '-c', `trap '' XFSZ; exec prlimit --fsize=0: -- "$@"`, 'sh'] as const

/** Starts a command that the modes of files bind. They do not bind root. */
export const BOUND_BY_MODES =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--'] : []

/** Whether this process may mount disks. */
export function canMount(folder: string): boolean {
  const isMounted = Bun.spawnSync(['mount', '-t', 'tmpfs', 'tmpfs', folder]).success
  if (isMounted) unmount(folder)
  return isMounted
}

/** Mounts a disk of 8 MiB in a folder. */
export function mountDisk(folder: string): void {
  run(['mount', '-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder])
}

/** Mounts a folder in another one, read-only. */
export function mountReadOnly(folder: string, target: string): void {
  run(['mount', '--bind', folder, target])
  run(['mount', '-o', 'remount,bind,ro', target])
}

export function unmount(folder: string): void {
  run(['umount', '--lazy', folder])
}

/** Fills a disk up to some bytes. */
export function fillDisk(folder: string, left: number): void {
  const { bavail, bsize } = statfsSync(folder)
  writeFileSync(join(folder, 'fill'), Buffer.alloc(bavail * bsize - left))
}

function run(command: readonly string[]): void {
  const { success, stderr } = Bun.spawnSync([...command])
  if (!success) throw new Error(`${command.join(' ')}: ${stderr}`)
}
