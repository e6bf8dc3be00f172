/** Where a build comes from. What the packages, the archives and the executables say about it comes from here. */

import { hostname, userInfo } from 'node:os'
import { resolve } from 'node:path'

/** The root of the checkout. */
export const ROOT = resolve(import.meta.dir, '..')

export interface Origin {
  /** The commit, with `-dirty` if a file was changed; undefined outside of a checkout. */
  readonly commit: string | undefined
  /** When it was made. Without git, now. Files have this time, so that the same commit gives the same bytes. */
  readonly date: Date
  /** The web page of the repository. Undefined where nobody says it. */
  readonly url: string | undefined
  /** The owner of the repository, or who builds, as git knows them: a name and an address in angle brackets. */
  readonly maintainer: string
}

/**
 * Reads it from git and from the variables of a workflow of GitHub (or Gitea), which names the repository in which it runs.
 *
 * @param env REVISION in it replaces the commit where there is no git, such as in the build of the image, and SOURCE_DATE_EPOCH its
 *   time, in seconds since 1970 (reproducible-builds.org)
 */
export function readOrigin(env: Readonly<Record<string, string | undefined>> = process.env): Origin {
  const { REVISION, SOURCE_DATE_EPOCH: seconds, GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = env
  const isNamed = server && repository
  const owner = repository?.split('/')[0]
  return {
    commit: REVISION || readCommit(),
    date: new Date(seconds ? Number(seconds) * 1000 : (runGit('log', '-1', '--format=%cI') ?? Date.now())),
    url: isNamed ? `${server}/${repository}` : undefined,
    maintainer: isNamed ? `${owner} <${owner}@users.noreply.${new URL(server).host}>` : findBuilder(),
  }
}

function readCommit(): string | undefined {
  return runGit('describe', '--always', '--dirty', '--exclude=*', '--abbrev=12')
}

/** Who builds: the identity that git would give to a commit, or the user of this machine. */
function findBuilder(): string {
  const found = runGit('var', 'GIT_COMMITTER_IDENT')?.match(/^.+<[^@>]+@[^@>]+>/)
  return found?.[0] ?? `Rollcall <${userInfo().username}@${hostname()}>`
}

/** Seconds since 1970, as tar and dpkg-deb take them. */
export const toSeconds = (date: Date): number => Math.floor(date.getTime() / 1000)

/** Runs git in the checkout. Undefined without git, without a checkout, and when it prints nothing. */
function runGit(...args: readonly string[]): string | undefined {
  if (!Bun.which('git')) return undefined
  return (
    Bun.spawnSync(['git', ...args], { cwd: ROOT, stderr: 'ignore' })
      .stdout.toString()
      .trim() || undefined
  )
}
