/** Measures a command of the command line. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CONTENDERS, type ContenderName } from './contenders.ts'
import { getImportedFile, IMPORTED, LARGE } from './large-list.ts'
import { CLI, type Pins, pinned } from './machine.ts'
import type { Sample } from './sample.ts'

/** The arguments of each command, and the number of addresses that it reads or writes. */
const COMMANDS = {
  import: async () => ({ args: ['import', await getImportedFile()], addresses: IMPORTED }),
  export: async () => ({ args: ['export', '--include-reserved'], addresses: LARGE }),
} as const

export type CommandName = keyof typeof COMMANDS

/** Runs a command on the list of a contender. The rate is in addresses per second, the CPU per address. */
export async function measureCommand(
  name: CommandName,
  contender: ContenderName,
  pins: Pins | undefined,
): Promise<Sample> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-'))
  try {
    const { args, addresses } = await COMMANDS[name]()
    const { environment } = await CONTENDERS[contender].launch({ port: 0, folder, pins })
    const start = performance.now()
    const child = Bun.spawn(pinned(pins?.server, [process.execPath, CLI, ...args]), {
      env: { PATH: process.env.PATH, ...environment },
      stdout: 'ignore',
      stderr: 'ignore',
    })
    if ((await child.exited) !== 0) throw new Error(`rollcall ${name} failed`)
    const seconds = (performance.now() - start) / 1000
    return { rate: addresses / seconds, cpu: Number(child.resourceUsage()?.cpuTime.total) / addresses }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
