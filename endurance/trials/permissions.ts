/** Nobody but the owner can read what holds addresses, whatever the umask is, and while it is written. */

import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { check, checkDuring, waitFor } from '../check.ts'
import { connect, toSubscribeRequest } from '../connection.ts'
import { withUmask } from '../limits.ts'
import { type List, toList } from '../rollcall.ts'
import type { Figures, Trial } from '../trial.ts'

const UMASKS = ['000', '022'] as const

/** Rows of the import; every second one is rejected. Enough for each command to take a while. */
const ROWS = 40_000

/** Names of files that a command writes before the file gets its name. */
const PARTIAL = /\.partial$/

export const permissions: Trial = {
  name: 'permissions',
  promise: 'everything with addresses is created with mode 0600, and every folder with 0700, under umask 000 and 022',
  minutes: { sqlite: 0.1, postgres: 0.1 },
  async run({ folder, createList, amount }) {
    const figures: Record<string, Figures[string]> = {}
    for (const umask of UMASKS) {
      const home = join(folder, `umask-${umask}`)
      mkdirSync(home)
      const { url, file } = await createList()
      // In a folder that does not exist yet.
      const list = toList(file ? `sqlite:${join(home, 'data/lists/rollcall.db')}` : url, home)
      const modes = watchModes(home)
      await checkDuring(`umask ${umask}`, async () => {
        await use(list, { home, umask, rows: amount(ROWS, 4_000) })
        modes.check()
      })
      figures[`files and folders under umask ${umask}`] = modes.stop()
    }
    return { figures }
  },
}

interface Use {
  readonly home: string
  readonly umask: string
  readonly rows: number
}

/** Runs everything that creates files. Some commands are killed, so that they leave what they have begun. */
async function use(list: List, { home, umask, rows }: Use): Promise<void> {
  const by = withUmask(umask)
  const input = join(dirname(home), `input-${umask}.txt`)
  const lines = Array.from({ length: rows }, (_, index) => `person${index}@${index % 2 ? 'host.example' : 'wrong'}`)
  writeFileSync(input, `${lines.join('\n')}\n`)
  const service = await list.serve({ by })
  const connection = await connect(service.port)
  const reply = await connection.request(toSubscribeRequest('person@example.org'))
  check(reply?.status === 200, () => `an address was answered ${reply?.status}`)
  const commands = [
    ['import', input, '--rejected', 'rejected.csv'],
    ['export', '--include-reserved', '--out', 'exports/list.csv', '--cursor-file', 'cursor'],
    ['copy', '--from', list.url, '--to', 'sqlite:copies/copy.db'],
    ...(list.file ? [['backup', 'backup.db']] : []),
  ]
  mkdirSync(join(home, 'exports'), { mode: 0o700 })
  for (const args of commands) {
    await killWhilePartial(list, args, { home, by })
    await list.run(args, { by })
  }
  await service.stop('SIGKILL')
}

/** Starts a command, and kills it when its unfinished file is there. */
async function killWhilePartial(
  list: List,
  args: readonly string[],
  { home, by }: { readonly home: string; readonly by: readonly string[] },
): Promise<void> {
  const before = listPartial(home).length
  const { process, ended } = list.start(args, { by })
  const hasBegun = () => process.exitCode !== null || listPartial(home).length > before
  await waitFor(`${args[0]} begins to write`, hasBegun, 60_000)
  process.kill('SIGKILL')
  await ended
}

function listPartial(home: string): string[] {
  return readdirSync(home, { recursive: true })
    .map(String)
    .filter((name) => PARTIAL.test(name))
}

/** Looks at the modes of all files below a folder, again and again. Output of the processes is not theirs. */
function watchModes(home: string) {
  const modes = new Map<string, number>()

  function look(): void {
    for (const entry of readdirSync(home, { recursive: true }).map(String)) {
      if (entry.split('/')[0] === 'logs') continue
      const status = statSync(join(home, entry), { throwIfNoEntry: false })
      if (status) modes.set(entry, (modes.get(entry) ?? 0) | (status.mode & 0o777))
    }
  }

  const timer = setInterval(look, 1)
  return {
    check(): void {
      look()
      const wide = [...modes].filter(([, mode]) => (mode & 0o077) !== 0)
      const text = wide.map(([name, mode]) => `${name} has mode ${mode.toString(8).padStart(4, '0')}`).join(', ')
      check(wide.length === 0, () => `other users can read what holds addresses: ${text}`)
      const isPartial = [...modes.keys()].some((name) => PARTIAL.test(name))
      check(isPartial, () => 'no unfinished file was seen: the trial itself does not work')
    },
    stop(): number {
      clearInterval(timer)
      return modes.size
    },
  }
}
