import { resolve } from 'node:path'

/** The commit of the checkout, with `-dirty` if a file was changed. Undefined outside of a checkout. */
export function readCommit(): string | undefined {
  const cwd = resolve(import.meta.dir, '..')
  const { success, stdout } = Bun.spawnSync(['git', 'describe', '--always', '--dirty', '--exclude=*'], { cwd })
  return success ? stdout.toString().trim() : undefined
}
