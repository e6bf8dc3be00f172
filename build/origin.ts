/** Where a build comes from. What the packages, the archives and the executables say about it comes from here. */

import { resolve } from 'node:path'

/** The root of the checkout. */
export const ROOT = resolve(import.meta.dir, '..')

export interface Origin {
  /** The commit, with `-dirty` if a file was changed; undefined outside of a checkout. */
  readonly commit: string | undefined
  /** The web page of the repository, and its owner. Undefined where nobody says them. */
  readonly url: string | undefined
  readonly maintainer: string | undefined
}

/**
 * Reads it from git and from the variables of a workflow of GitHub (or Gitea), which names the repository in which it runs.
 *
 * @param env REVISION in it replaces the commit where there is no git, such as in the build of the image
 */
export function readOrigin(env: Readonly<Record<string, string | undefined>> = process.env): Origin {
  const { REVISION, GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = env
  const isNamed = server && repository
  const owner = repository?.split('/')[0]
  return {
    commit: REVISION || readCommit(),
    url: isNamed ? `${server}/${repository}` : undefined,
    maintainer: isNamed ? `${owner} <${owner}@users.noreply.${new URL(server).host}>` : undefined,
  }
}

function readCommit(): string | undefined {
  if (!Bun.which('git')) return undefined
  const { stdout } = Bun.spawnSync(['git', 'describe', '--always', '--dirty', '--exclude=*', '--abbrev=12'], {
    cwd: ROOT,
  })
  return stdout.toString().trim() || undefined
}
