/** Runs a proxy in front of Rollcall, in a temporary folder. */

import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findProgram, PROGRAM_PATH } from '../support/programs.ts'
import { type ConnectionOptions, openConnection, type RawConnection } from '../support/raw.ts'
import { createFolder } from '../support/service.ts'
import { until, within } from '../support/wait.ts'
import { createCertificate } from './certificate.ts'
import type { Ports, Setup } from './setups.ts'

export interface RunningProxy extends Ports {
  readonly name: string
  /** Connects with TLS. Without `client`, each connection comes from another address, so that no limit applies. */
  connect(client?: string): Promise<RawConnection>
  stop(): Promise<void>
}

/** Starts a proxy and waits until it listens. The program must be installed. */
export async function startProxy(setup: Setup, upstream: number): Promise<RunningProxy> {
  const ports = { upstream, plain: takeFreePort(), secure: takeFreePort() }
  const folder = await createFolder()
  const ca = await createCertificate(join(folder, 'list.pem'), ['list.example.org', 'www.list.example.org'])
  const file = join(folder, 'proxy.conf')
  await writeFile(file, setup.configure(ports, folder))
  const child = Bun.spawn([findProgram(setup.program) ?? setup.program, ...setup.toArguments(file)], {
    cwd: folder,
    env: { PATH: PROGRAM_PATH, HOME: folder },
    stdout: 'ignore',
    stderr: Bun.file(join(folder, 'log')),
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)

  try {
    await until(async () => {
      const log = () => Bun.file(join(folder, 'log')).text()
      if (child.exitCode !== null) throw new Error(`${setup.name} ended with ${child.exitCode}: ${await log()}`)
      return (await isListening(ports.plain)) && (await isListening(ports.secure))
    }, `${setup.name} listens`)
  } catch (error) {
    kill()
    throw error
  }

  return {
    ...ports,
    name: setup.name,
    connect(client = takeClient()) {
      const options: ConnectionOptions = { localAddress: client, tls: { servername: 'list.example.org', ca } }
      return openConnection(ports.secure, options)
    },
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

let clients = 0

/** Returns an address of this machine that no other client has. */
export function takeClient(): string {
  clients++
  return `127.1.${clients >> 8}.${clients & 255}`
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
