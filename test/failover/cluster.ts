/** A cluster of three PostgreSQL servers on loopback, with Patroni and etcd. */

import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { PASSWORD } from '../support/postgres.ts'
import { findPort, findUser, suspend } from '../support/postgres-process.ts'
import { findProgram } from '../support/programs.ts'
import { createFolder } from '../support/service.ts'
import { until } from '../support/wait.ts'

/** Where Debian installs the server. */
export const BIN = '/usr/lib/postgresql/15/bin'

export interface Cluster {
  /** The URL of the list, with all hosts. */
  readonly url: string
  /** Waits until there is a primary, and both standbys follow it. */
  settle(): Promise<void>
  /** Kills the primary at once: PostgreSQL with all its processes, and its Patroni. Returns a function that starts it again. */
  killPrimary(): Promise<() => void>
  stop(): Promise<void>
}

interface Node {
  readonly name: string
  readonly folder: string
  readonly port: number
  readonly apiPort: number
  process: ChildProcess
}

interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
}

/** @param isSynchronous strict synchronous replication; otherwise asynchronous */
export async function startCluster(isSynchronous: boolean): Promise<Cluster> {
  const folder = await createFolder()
  const user = findUser()
  own(folder)
  const ports = { etcd: await findPort(), peers: await findPort() }

  function own(path: string): void {
    if (user) chownSync(path, user.uid, user.gid)
  }

  /** Starts a program in a process group of its own. */
  function start(program: string, args: readonly string[], cwd: string): ChildProcess {
    const env = { PATH: `${BIN}:/usr/bin:/bin`, HOME: cwd, LC_ALL: 'C.UTF-8' }
    return spawn(findProgram(program) ?? program, args, { ...user, cwd, env, detached: true, stdio: 'ignore' })
  }

  const [client, peer] = [`http://127.0.0.1:${ports.etcd}`, `http://127.0.0.1:${ports.peers}`]
  const etcd = start(
    'etcd',
    [
      ...['--data-dir', join(folder, 'etcd'), '--listen-client-urls', client, '--advertise-client-urls', client],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
    ],
    folder,
  )
  await until(() => isOk(`${client}/health`), 'etcd answers')

  const startNode = (node: Pick<Node, 'folder'>) => start('patroni', [join(node.folder, 'patroni.json')], node.folder)
  const nodes: Node[] = []
  for (const name of ['one', 'two', 'three']) {
    const node = { name, folder: join(folder, name), port: await findPort(), apiPort: await findPort() }
    mkdirSync(node.folder)
    const file = join(node.folder, 'patroni.json')
    writeFileSync(file, JSON.stringify(toSettings(node, { etcdPort: ports.etcd, isSynchronous })))
    for (const path of [node.folder, file]) own(path)
    nodes.push({ ...node, process: startNode(node) })
    // The first one creates the cluster, and the others copy it.
    await until(async () => (await readMembers()).some(isPrimary), 'the cluster has a primary')
  }

  async function readMembers(): Promise<readonly Member[]> {
    for (const { apiPort } of nodes) {
      const response = await fetch(`http://127.0.0.1:${apiPort}/cluster`, { signal: AbortSignal.timeout(1000) }).catch(
        () => undefined,
      )
      if (response?.ok) return ((await response.json()) as { members: Member[] }).members
    }
    return []
  }

  async function settle(): Promise<void> {
    await until(async () => {
      const members = await readMembers()
      const standbys = members.filter((member) => !isPrimary(member))
      const hasSync = !isSynchronous || standbys.some(({ role }) => role === 'sync_standby')
      return members.some(isPrimary) && standbys.length === 2 && standbys.every(isFollowing) && hasSync
    }, 'the cluster has a primary and two standbys')
  }

  /** Kills a node with all its processes. PostgreSQL is in a process group of its own. */
  function kill(node: Node): void {
    const pids = [node.process.pid, ...readServer(node)].filter((pid) => pid !== undefined)
    for (const pid of pids) tryKill(pid)
  }

  return {
    url: `postgres://postgres:${PASSWORD}@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postgres?target_session_attrs=read-write`,
    settle,
    async killPrimary() {
      const { name } = (await readMembers()).find(isPrimary) ?? {}
      const node = nodes.find((candidate) => candidate.name === name)
      if (!node) throw new Error('the cluster has no primary')
      kill(node)
      return () => {
        node.process = startNode(node)
      }
    },
    async stop() {
      for (const node of nodes) kill(node)
      if (etcd.pid) tryKill(etcd.pid)
      await until(async () => await rm(folder, { recursive: true }).then(isDone, () => false), 'the folder is removed')
    },
  }
}

const isDone = () => true

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}

/** Returns the ids of the processes of a server. They are suspended, so that there are no more. */
function readServer({ folder }: Node): number[] {
  try {
    const [pid] = readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n')
    return suspend({ pid: Number(pid) })
  } catch {
    return []
  }
}

const isPrimary = ({ role, state }: Member) => role === 'leader' && state === 'running'

// Before version 4, Patroni calls a standby that follows the primary "running" too.
const isFollowing = ({ state }: Member) => state === 'running' || state === 'streaming'

async function isOk(url: string): Promise<boolean> {
  return await fetch(url).then(
    ({ ok }) => ok,
    () => false,
  )
}

/** The settings of Patroni: https://patroni.readthedocs.io/en/latest/patroni_configuration.html. Times are in seconds. */
function toSettings(
  { name, folder, port, apiPort }: Omit<Node, 'process'>,
  { etcdPort, isSynchronous }: { etcdPort: number; isSynchronous: boolean },
) {
  const login = { password: PASSWORD }
  return {
    scope: 'rollcall',
    name,
    restapi: { listen: `127.0.0.1:${apiPort}`, connect_address: `127.0.0.1:${apiPort}` },
    etcd3: { host: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        ttl: 5,
        loop_wait: 1,
        retry_timeout: 2,
        primary_start_timeout: 0,
        // Asynchronous: a standby may be promoted although it is behind.
        maximum_lag_on_failover: 1024 ** 3,
        synchronous_mode: isSynchronous,
        synchronous_mode_strict: isSynchronous,
        postgresql: { use_pg_rewind: true },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: join(folder, 'data'),
      bin_dir: BIN,
      pgpass: join(folder, 'pgpass'),
      pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256'],
      parameters: {
        unix_socket_directories: '',
        max_connections: 50,
        // A standby connects to the new primary after at most this time. Commits wait for it.
        wal_retrieve_retry_interval: '500ms',
      },
      authentication: {
        superuser: { username: 'postgres', ...login },
        replication: { username: 'replicator', ...login },
      },
    },
  }
}
