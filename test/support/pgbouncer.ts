/** A PgBouncer in transaction mode, for `npm run test:poolers`. */

import { chownSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findProgram } from './paths.ts'
import { findPort, findUser } from './postgres-process.ts'
import { createFolder } from './service.ts'
import { until } from './wait.ts'

/** Starts a PgBouncer that ends with this process. Returns its port when it listens. */
export async function startPgBouncer(server: number, password: string): Promise<number> {
  const [folder, port, user] = [await createFolder(), await findPort(), findUser()]
  await writeFile(join(folder, 'users.txt'), `"owner" "${password}"\n`)
  // Each list of a test is a database of its own, and the server has few connections.
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]
     * = host=127.0.0.1 port=${server}
     [pgbouncer]
     listen_addr = 127.0.0.1
     listen_port = ${port}
     unix_socket_dir =
     auth_type = scram-sha-256
     auth_file = ${join(folder, 'users.txt')}
     pool_mode = transaction
     server_idle_timeout = 0.1
     server_login_retry = 1
    `.replace(/^ +/gm, ''),
  )
  // PgBouncer refuses to run as root.
  if (user) for (const name of ['', 'users.txt', 'pgbouncer.ini']) chownSync(join(folder, name), user.uid, user.gid)
  const child = Bun.spawn([findProgram('pgbouncer') ?? '', '-q', join(folder, 'pgbouncer.ini')], {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  child.unref()
  process.once('exit', () => child.kill('SIGKILL'))
  const isListening = () =>
    Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } }).then(
      (socket) => {
        socket.end()
        return true
      },
      () => false,
    )
  await until(isListening, 'PgBouncer listens')
  return port
}
