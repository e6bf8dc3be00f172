/** Runs a proxy in front of Rollcall, in a temporary folder. */

import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openConnection } from '../support/raw.ts'
import { createFolder } from '../support/service.ts'
import { until, within } from '../support/wait.ts'
import type { Ports, Setup } from './setups.ts'

export interface RunningProxy extends Ports {
  readonly name: string
  /** Returns what the proxy has logged. */
  log(): Promise<string>
  stop(): Promise<void>
}

/** Debian installs nginx and HAProxy in a folder that is not on the path of every user. */
const PATH = `${process.env.PATH}:/usr/sbin`

/** Returns the path of an installed program; null if there is none. */
export function findProgram(program: string): string | null {
  return Bun.which(program, { PATH })
}

/** Starts a proxy and waits until it listens. The program must be installed. */
export async function startProxy(setup: Setup, upstream: number): Promise<RunningProxy> {
  const ports = { upstream, open: takeFreePort(), guarded: takeFreePort() }
  const folder = await createFolder()
  const file = join(folder, 'proxy.conf')
  await writeFile(file, setup.configure(ports))
  const child = Bun.spawn([findProgram(setup.program) ?? setup.program, ...setup.toArguments(file)], {
    cwd: folder,
    env: { PATH, HOME: folder },
    stdout: 'ignore',
    stderr: Bun.file(join(folder, 'log')),
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const read = () => Bun.file(join(folder, 'log')).text()

  try {
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`${setup.name} ended with ${child.exitCode}: ${await read()}`)
      return (await isListening(ports.open)) && (await isListening(ports.guarded))
    }, `${setup.name} listens`)
  } catch (error) {
    kill()
    throw error
  }

  return {
    ...ports,
    name: setup.name,
    log: read,
    async stop() {
      child.kill('SIGTERM')
      await within(child.exited, `${setup.name} ends`)
      process.off('exit', kill)
      await rm(folder, { recursive: true })
    },
  }
}

/** Returns the version of an installed proxy. */
export function readVersion({ program, version }: Setup): string {
  const { stdout, stderr } = Bun.spawnSync([findProgram(program) ?? program, ...version])
  return /\d+(?:\.\d+)+/.exec(`${stdout}${stderr}`)?.[0] ?? ''
}

async function isListening(port: number): Promise<boolean> {
  const connection = await openConnection(port)
  const isOpen = !connection.isClosed()
  connection.close()
  return isOpen
}

function takeFreePort(): number {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = probe
  probe.stop(true)
  return port
}
