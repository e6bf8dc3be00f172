/** One run of a command of Rollcall, from start to end. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CONTENDERS, type ContenderName } from './contenders.ts'
import { getImportedFile, IMPORTED, LARGE } from './large-list.ts'
import { CLI, type Pins, pinned } from './machine.ts'
import type { Sample } from './sample.ts'

/** What is run, and how many addresses it moves. */
const COMMANDS = {
  import: async () => ({ args: ['import', await getImportedFile()], addresses: IMPORTED }),
  export: async () => ({ args: ['export', '--include-reserved'], addresses: LARGE }),
} as const

export type CommandName = keyof typeof COMMANDS

/** Runs a command on the list that a contender would keep: addresses a second, and CPU for each. */
export async function measureCommand(
  name: CommandName,
  contender: ContenderName,
  pins: Pins | undefined,
): Promise<Sample> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-'))
  try {
    const { args, addresses } = await COMMANDS[name]()
    const { environment } = await CONTENDERS[contender].launch({ port: 0, folder, pins })
    const begin = performance.now()
    const child = Bun.spawn(pinned(pins?.server, [process.execPath, CLI, ...args]), {
      env: { PATH: process.env.PATH, ...environment },
      stdout: 'ignore',
      stderr: 'ignore',
    })
    if ((await child.exited) !== 0) throw new Error(`rollcall ${name} failed`)
    const seconds = (performance.now() - begin) / 1000
    const used = child.resourceUsage()
    return {
      rate: addresses / seconds,
      cpu: Number(used?.cpuTime.total) / addresses,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
