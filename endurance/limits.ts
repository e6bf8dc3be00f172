/** Limits of a process, which a command sets for the process that it runs. */

import { readFileSync } from 'node:fs'

/** Says in one line what is missing to set limits. */
export function findMissingPrlimit(): string | undefined {
  return Bun.which('prlimit')
    ? undefined
    : 'prlimit is missing: install util-linux, such as with apt-get install util-linux'
}

/** The command that runs a process with exactly so many file descriptors. */
export function withFiles(files: number): string[] {
  return ['prlimit', `--nofile=${files}:${files}`, '--']
}

/** The command that runs a process with at least so many file descriptors. */
export function withManyFiles(files: number): string[] {
  const [, hard = '0'] = /^Max open files\s+\d+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  return ['prlimit', `--nofile=${files}:${Math.max(files, Number(hard))}`, '--']
}

/** Says in one line when no process may have so many file descriptors here. */
export function findMissingFiles(files: number): string | undefined {
  const missing = findMissingPrlimit()
  if (missing || Bun.spawnSync([...withManyFiles(files), 'true']).success) return missing
  return `a process needs ${files} open files here: raise the hard limit, such as with ulimit -Hn ${files} as root`
}

/** The command that runs a process with this umask, such as `022`. */
export function withUmask(umask: string): string[] {
  return ['sh', '-c', `umask ${umask}; exec "$@"`, 'sh']
}
