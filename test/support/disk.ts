/** Simulates a full disk for one process by a limit on the size of its files, which needs no privileges. */

/** Starts a command whose files may have some bytes. A write beyond that fails with EFBIG, because SIGXFSZ is ignored. */
const limitFiles = (bytes: number) =>
  ['sh', '-c', `trap '' XFSZ; exec prlimit --fsize=${bytes}: -- "$@"`, 'sh'] as const

/** Starts a command whose files may have 1 MiB. */
export const SMALL_DISK = limitFiles(2 ** 20)

/** Starts a command whose writes all fail. */
export const NO_SPACE = limitFiles(0)

/** Fills the disk: every further write of the process fails. */
export const takeSpace = (pid: number) => setLimit(pid, '0')

/** Gives the process unlimited space. */
export const giveSpace = (pid: number) => setLimit(pid, 'unlimited')

function setLimit(pid: number, bytes: string): void {
  const { success, stderr } = Bun.spawnSync(['prlimit', `--fsize=${bytes}:`, '--pid', String(pid)])
  if (!success) throw new Error(stderr.toString())
}

/** Starts a command that the modes of files bind. They do not bind root. */
export const BOUND_BY_MODES: readonly string[] =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--'] : []
