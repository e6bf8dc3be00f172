/** Simulates a full disk for one process by a limit on the size of its files, which needs no privileges. */

/** Starts a command whose files may have 1 MiB. A write beyond that fails with EFBIG, because SIGXFSZ is ignored. */
export const SMALL_DISK = ['sh', '-c', `trap '' XFSZ; exec prlimit --fsize=${2 ** 20}: -- "$@"`, 'sh'] as const

/** Fills the disk: every further write of the process fails. */
export const takeSpace = (pid: number) => setLimit(pid, '0')

/** Gives the process unlimited space. */
export const giveSpace = (pid: number) => setLimit(pid, 'unlimited')

function setLimit(pid: number, bytes: string): void {
  const { success, stderr } = Bun.spawnSync(['prlimit', `--fsize=${bytes}:`, '--pid', String(pid)])
  if (!success) throw new Error(stderr.toString())
}
