/** What the tests of a file make, and what is gone after them: temporary folders, ports, processes, and the logs of services. */

import { randomInt } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './paths.ts'

/** On a disk: a list in memory gets a warning. */
const PLACE = statfsSync(tmpdir()).type === 0x01021994 ? '/var/tmp' : tmpdir()
const FOLDERS = join(PLACE, `rollcall-test-${process.pid}`)

/** Holds the log of every service that this process starts. */
export const LOG_FOLDER = join(ROOT, 'test/.logs', String(process.pid))

/** The processes of Rollcall that run. */
export const RUNNING = new Set<Bun.Subprocess>()

/** Creates a temporary folder. It is removed after the tests of the file, or when the program ends. */
export async function createFolder(): Promise<string> {
  mkdirSync(FOLDERS, { recursive: true })
  return mkdtempSync(join(FOLDERS, 'folder-'))
}

export function removeFolders(): void {
  try {
    rmSync(FOLDERS, { recursive: true, force: true })
  } catch {
    // A test took permissions from a folder, which binds everybody except root.
    Bun.spawnSync(['chmod', '-R', 'u+rwX', FOLDERS])
    rmSync(FOLDERS, { recursive: true, force: true })
  }
}

// Not in a test: Bun has no such event there.
process.once('exit', removeFolders)

/**
 * Finds a free port below the range from which systems choose ports by themselves (32768 on Linux). A port of that
 * range may be taken while the server is down, even by a client that tries to connect to it.
 */
export function findPort(): number {
  for (;;) {
    const port = randomInt(20_000, 32_768)
    try {
      Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop(true)
      return port
    } catch {
      // Another process has it.
    }
  }
}

/** Kills the processes that failed tests left behind. */
export function endProcesses(): void {
  for (const child of RUNNING) child.kill('SIGKILL')
}

/** Removes the logs of the services. @throws when one holds an address */
export function removeLogs(): void {
  for (const name of existsSync(LOG_FOLDER) ? readdirSync(LOG_FOLDER) : []) {
    const lines = readFileSync(join(LOG_FOLDER, name), 'utf8').split('\n')
    const line = lines.find((text) => text.includes('@'))
    if (line !== undefined) throw new Error(`the log ${name} may hold an address: ${line}`)
  }
  rmSync(LOG_FOLDER, { recursive: true, force: true })
}
