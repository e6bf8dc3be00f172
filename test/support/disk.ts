/** A disk that is full, for one process: a limit on the size of its files, which needs no special rights. */

/** The command that starts a process on a disk of a megabyte a file; a write beyond it fails, without the signal. */
export const SMALL_DISK = [
  'sh',
  '-c',
  `trap '' XFSZ; exec prlimit --fsize=${2 ** 20}: -- "$@"`,
  'sh',
] as const

/** Takes the last bytes of it, so that every further write fails. */
export const takeSpace = (pid: number) => setLimit(pid, '0')

/** Gives space while the process runs. */
export const giveSpace = (pid: number) => setLimit(pid, 'unlimited')

function setLimit(pid: number, bytes: string): void {
  const { success, stderr } = Bun.spawnSync(['prlimit', `--fsize=${bytes}:`, '--pid', String(pid)])
  if (!success) throw new Error(stderr.toString())
}
