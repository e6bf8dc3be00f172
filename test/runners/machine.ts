/** Machines with systemd, in namespaces on a copy of a root file system that is kept in memory. They need root. See machine.sh. */

import { afterAll, expect } from 'bun:test'
import { readdirSync, readFileSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../support/wait.ts'

const CGROUPS = join('/sys/fs/cgroup', readdirSync('/sys/fs/cgroup').includes('unified') ? 'unified' : '')
const ENTER = ['nsenter', '--mount', '--pid', '--uts', '--ipc', '--net', '--cgroup', '--root', '--wd', '--target']
const ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' }

/** That of this machine, as Debian names it. */
export const ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch

/** systemd as the first process, with no more units than a machine needs to start. */
export const SYSTEMD = ['/lib/systemd/systemd', '--system', '--unit=sysinit.target']

/** Runs a script as root, which must exit with 0 unless `code` says otherwise. Returns what it prints. */
export type Run = (text: string, code?: number) => Promise<string>

interface MachineOptions {
  /** The folder that is /srv in the machine. */
  readonly share: string
  /** The command of the first process. */
  readonly init: readonly string[]
  /** The root file system, of which the machine has a copy. Default: that of this machine. */
  readonly root?: string
}

const stops: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const stop of stops) await stop()
})

/** Starts a machine, which ends with the tests of the file. */
export async function startMachine({ share, init, root = '/' }: MachineOptions): Promise<Run> {
  const group = join(CGROUPS, `rollcall-test-${process.pid}-${stops.length}`)
  const script = join(import.meta.dir, 'machine.sh')
  const child = Bun.spawn(['sh', script, group, root, share, ...init], { stdout: 'ignore', stderr: 'pipe' })
  stops.push(async () => {
    child.kill('SIGKILL')
    await child.exited
    await until(() => readFileSync(join(group, 'cgroup.events'), 'utf8').includes('populated 0'))
    removeGroups(group)
  })
  const findFirst = () => readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim()
  const isStarted = () => readFileSync(`/proc/${findFirst()}/cmdline`, 'utf8').startsWith(init[0] ?? '')
  await until(() => /^\d+$/.test(findFirst()) && isStarted())

  async function run(text: string, code = 0): Promise<string> {
    const command = [...ENTER, findFirst(), 'sh', '-euc', text]
    const inner = Bun.spawn(command, { env: ENVIRONMENT, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
    const [stdout, stderr] = await Promise.all([inner.stdout.text(), inner.stderr.text(), inner.exited])
    expect([text, inner.exitCode, inner.exitCode === code ? '' : stdout + stderr]).toEqual([text, code, ''])
    // A terminal of apt ends lines with \r\n.
    return (stdout + stderr).replaceAll('\r', '')
  }
  if (init === SYSTEMD)
    await until(async () => /running|degraded/.test(await run('systemctl is-system-running || true')))
  return run
}

function removeGroups(group: string): void {
  for (const entry of readdirSync(group, { withFileTypes: true })) {
    if (entry.isDirectory()) removeGroups(join(group, entry.name))
  }
  rmdirSync(group)
}
