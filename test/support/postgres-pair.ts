/** A primary and a standby for tests of a standby, a promotion or a failover. */

import type { ChildProcess } from 'node:child_process'
import { appendFileSync, chmodSync, chownSync, cpSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SQL } from 'bun'
import { PASSWORD } from './postgres.ts'
import { findBinaries, findPort, findUser, initialize, suspend, tryStart } from './postgres-process.ts'
import { createFolder } from './service.ts'
import { until, within } from './wait.ts'

/** Creates the folder of a primary, and the ports of a primary and a standby with asynchronous replication. */
export async function createPair() {
  const folder = await createFolder()
  const user = findUser()
  if (user) chownSync(folder, user.uid, user.gid)
  const { initdb, postgres } = await findBinaries(folder, user)
  const data = initialize(initdb, { folder, user, password: PASSWORD })
  const copy = join(folder, 'standby')
  const ports = { primary: await findPort(), standby: await findPort() }
  const running = new Set<ChildProcess>()

  async function start(folderOfData: string, port: number): Promise<ChildProcess> {
    const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=']
    const options = ['-D', folderOfData, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
    let child: ChildProcess | undefined
    await until(async () => {
      child = await tryStart(postgres, options, { ...user, cwd: folder })
      return child !== undefined
    }, 'the server accepts connections')
    running.add(child!)
    return child!
  }

  async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
    if (!running.delete(child)) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    for (const pid of signal === 'SIGKILL' ? suspend(child) : [child.pid!]) process.kill(pid, signal)
    await within(ended, 'the server has ended')
  }

  function copyToStandby(): void {
    cpSync(data, copy, { recursive: true })
    // The server refuses a folder that others can read.
    chmodSync(copy, 0o700)
    writeFileSync(join(copy, 'standby.signal'), '')
    const connection = `host=127.0.0.1 port=${ports.primary} user=postgres password=${PASSWORD}`
    appendFileSync(join(copy, 'postgresql.auto.conf'), `primary_conninfo = '${connection}'\n`)
    if (!user) return
    for (const path of new Bun.Glob('**').scanSync({ cwd: copy, dot: true, onlyFiles: false })) {
      chownSync(join(copy, path), user.uid, user.gid)
    }
    chownSync(copy, user.uid, user.gid)
  }

  const toUrl = (port: number) => `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`
  /** Stops both servers, and removes their folders. */
  async function end(): Promise<void> {
    await Promise.all([...running].map((child) => stop(child, 'SIGQUIT')))
    await rm(folder, { recursive: true })
  }

  return { data, copy, ports, start, stop, copyToStandby, toUrl, end }
}

/** Promotes a standby, and waits until it takes changes. Returns false while it does not answer. */
export async function tryPromote(url: string): Promise<boolean> {
  return (await runOn<boolean>(url, 'SELECT pg_promote() AS value').catch(() => false)) === true
}

/** Runs a statement, and returns the column `value` of its first row, if it has one. */
export async function runOn<T>(url: string, statement: string): Promise<T | undefined> {
  const sql = new SQL({ url, max: 1 })
  try {
    const [row] = await sql.unsafe<{ value: T }[]>(statement)
    return row?.value
  } finally {
    await sql.close()
  }
}
