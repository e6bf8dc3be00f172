/** Measures a command of the command line. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CONTENDERS, type ContenderName } from './contenders.ts'
import { getImportedFile, IMPORTED, LARGE } from './large-list.ts'
import { CLI, type Pins, pinned } from './machine.ts'
import type { Sample } from './sample.ts'

/** The arguments of each command, and the number of addresses that it reads or writes one by one. */
const COMMANDS = {
  import: async () => ({ args: ['import', await getImportedFile()], addresses: IMPORTED }),
  export: async () => ({ args: ['export', '--include-reserved'], addresses: LARGE }),
  count: async () => ({ args: ['count'], addresses: undefined }),
} as const

export type CommandName = keyof typeof COMMANDS

/**
 * Runs a command on the list of a contender. The rate is in addresses per second, the CPU per address. A command that
 * does not go through addresses has a time.
 */
export async function measureCommand(
  name: CommandName,
  contender: ContenderName,
  pins: Pins | undefined,
): Promise<Sample> {
  return await withFolder(async (folder) => {
    const { args, addresses } = await COMMANDS[name]()
    const { environment } = await CONTENDERS[contender].launch({ port: 0, folder, pins })
    const start = performance.now()
    const child = Bun.spawn(pinned(pins?.server, [process.execPath, CLI, ...args]), {
      env: { PATH: process.env.PATH, ...environment },
      stdout: 'ignore',
      stderr: 'ignore',
    })
    if ((await child.exited) !== 0) throw new Error(`rollcall ${name} failed`)
    const time = performance.now() - start
    if (addresses === undefined) return { time }
    return { rate: (addresses / time) * 1000, cpu: Number(child.resourceUsage()?.cpuTime.total) / addresses }
  })
}

const PAGES = fileURLToPath(new URL('pages.ts', import.meta.url))

/** Reads pages behind cursors of the list of a contender. The time is the median. */
export async function measurePages(contender: ContenderName, pins: Pins | undefined): Promise<Sample> {
  return await withFolder(async (folder) => {
    const { environment } = await CONTENDERS[contender].launch({ port: 0, folder, pins })
    const child = Bun.spawn(pinned(pins?.server, [process.execPath, PAGES]), {
      env: { PATH: process.env.PATH, ...environment },
      stderr: 'inherit',
    })
    const time = Number(await child.stdout.text())
    if ((await child.exited) !== 0) throw new Error('reading pages failed')
    return { time }
  })
}

async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
