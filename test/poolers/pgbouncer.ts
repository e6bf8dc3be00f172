/** A PgBouncer in front of the test server. */

import { chownSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PASSWORD } from '../support/postgres.ts'
import { findPort, findUser } from '../support/postgres-process.ts'
import { findProgram } from '../support/programs.ts'
import { createFolder } from '../support/service.ts'
import { until } from '../support/wait.ts'

export interface PoolerOptions {
  readonly mode: 'session' | 'transaction' | 'statement'
  /** Whether the settings of a session are ignored. Otherwise PgBouncer refuses connections that have some. */
  readonly ignoresSettings: boolean
  /** The port of the server. */
  readonly upstream: string
}

export interface Pooler {
  /** Turns the URL of a list into one that leads to the pooler. */
  toUrl(url: string): string
  stop(): Promise<void>
}

/** Starts a PgBouncer, and waits until it listens. */
export async function startPooler({ mode, ignoresSettings, upstream }: PoolerOptions): Promise<Pooler> {
  const folder = await createFolder()
  const port = await findPort()
  const limits = 'lock_timeout, idle_in_transaction_session_timeout, statement_timeout'
  const ignored = `default_transaction_isolation, ${limits}`
  // Each list of a test is a database of its own, and the server has few connections.
  const configuration = `
[databases]
* = host=127.0.0.1 port=${upstream}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(folder, 'users.txt')}
pool_mode = ${mode}
server_idle_timeout = 0.1
server_login_retry = 1
${ignoresSettings ? `ignore_startup_parameters = ${ignored}` : ''}
`
  await writeFile(join(folder, 'users.txt'), `"owner" "${PASSWORD}"\n`)
  await writeFile(join(folder, 'pgbouncer.ini'), configuration)
  // PgBouncer refuses to run as root.
  const user = findUser()
  if (user) for (const name of ['', 'users.txt', 'pgbouncer.ini']) chownSync(join(folder, name), user.uid, user.gid)
  const child = Bun.spawn([findProgram('pgbouncer') ?? '', '-q', join(folder, 'pgbouncer.ini')], {
    ...user,
    cwd: folder,
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await until(() => isListening(port), `PgBouncer in ${mode} mode listens`)

  return {
    toUrl(url) {
      const pooled = new URL(url)
      pooled.port = String(port)
      return pooled.href
    },
    async stop() {
      child.kill('SIGKILL')
      await child.exited
      await rm(folder, { recursive: true })
    },
  }
}

async function isListening(port: number): Promise<boolean> {
  return await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } }).then(
    (socket) => {
      socket.end()
      return true
    },
    () => false,
  )
}
