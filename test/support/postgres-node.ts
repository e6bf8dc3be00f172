/** A PostgreSQL server in a folder of its own, removed after the run. */

import type { ChildProcess } from 'node:child_process'
import { chownSync } from 'node:fs'
import { findBinaries, findPort, findUser, initialize, removeAfterRun, suspend, tryStart } from './postgres-process.ts'
import { createFolder } from './service.ts'
import { until } from './wait.ts'

export interface PostgresNode {
  readonly port: number
  /** The folder of the server's data, with its settings. */
  readonly data: string
  /** Starts the server. Also starts it again, with the same data and port. */
  start(): Promise<void>
  /** Sends a signal to all processes of the server, and returns their ids. */
  signal(name: NodeJS.Signals): number[]
  /** Kills the server and all of its processes, and waits until it has ended. */
  kill(): Promise<void>
}

/**
 * Creates the data of a server.
 *
 * @param password of the superuser postgres, and of the connections that the server makes to others
 * @param settings in the form name=value
 */
export async function createNode(password: string, settings: readonly string[]): Promise<PostgresNode> {
  const folder = await createFolder()
  const user = findUser()
  if (user) chownSync(folder, user.uid, user.gid)
  removeAfterRun(folder)
  const { initdb, postgres } = await findBinaries(folder, user)
  const data = initialize(initdb, { folder, user, password })
  const port = await findPort()
  const all = ['listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, ...settings]
  const options = ['-D', data, '-p', String(port), ...all.flatMap((setting) => ['-c', setting])]
  // A server of Citus is a client of the others.
  const env = { PATH: process.env.PATH, HOME: folder, PGPASSWORD: password }
  let child: ChildProcess | undefined

  /** A process that came later could keep the shared memory in use. */
  function signal(name: NodeJS.Signals): number[] {
    if (child === undefined) throw new Error('the server does not run')
    const pids = suspend(child)
    for (const pid of pids) process.kill(pid, name)
    return pids
  }

  return {
    port,
    data,
    signal,
    // After a kill, the shared memory of the last server may still be in use.
    start: () =>
      until(async () => {
        child = await tryStart(postgres, options, { ...user, cwd: folder, env })
        return child !== undefined
      }, 'PostgreSQL accepts connections'),
    async kill() {
      const ended = new Promise((resolve) => child?.once('exit', resolve))
      signal('SIGKILL')
      await ended
    },
  }
}
