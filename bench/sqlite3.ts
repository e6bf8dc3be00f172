/**
 * `npm run bench:sqlite3 [-- --large]`: commands on a list of two million addresses, compared with the `sqlite3` command line
 * on a table with a unique address. `--large` also counts ten million. The two run in turn; a ratio is of one run.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyLargeList, toAddress } from './large-list.ts'
import { CLI } from './machine.ts'

const SIZE = 2_000_000
const REMOVED = 100_000

/** A command of Rollcall and statements that do the same, in the order in which they run. */
interface Pair {
  readonly title: string
  readonly addresses: number
  readonly rollcall: readonly string[]
  readonly sqlite3: readonly string[]
}

const IMPORT = [
  'CREATE TEMP TABLE incoming (email)',
  '.import new.txt incoming',
  "INSERT OR IGNORE INTO list SELECT email, unixepoch('now') FROM incoming",
]

const PAIRS: readonly Pair[] = [
  {
    title: 'import of new rows',
    addresses: SIZE,
    rollcall: ['import', 'new.txt'],
    sqlite3: ['CREATE TABLE list (email TEXT PRIMARY KEY COLLATE NOCASE, at INTEGER) WITHOUT ROWID', ...IMPORT],
  },
  { title: 'import of known rows', addresses: SIZE, rollcall: ['import', 'new.txt'], sqlite3: IMPORT },
  { title: 'count', addresses: SIZE, rollcall: ['count'], sqlite3: ['SELECT count(*) FROM list'] },
  {
    title: 'export',
    addresses: SIZE,
    rollcall: ['export', '--include-reserved'],
    sqlite3: ['.mode csv', 'SELECT * FROM list'],
  },
  { title: 'backup', addresses: SIZE, rollcall: ['backup', 'copy.db'], sqlite3: ['.backup copy.sqlite3'] },
  {
    title: 'remove --file',
    addresses: REMOVED,
    rollcall: ['remove', '--file', 'removed.txt'],
    sqlite3: [
      'CREATE TEMP TABLE removed (email)',
      '.import removed.txt removed',
      'DELETE FROM list WHERE email IN (SELECT email FROM removed)',
    ],
  },
]

interface Cost {
  readonly seconds: number
  readonly cpu: number
}

async function measure(command: readonly string[], cwd: string): Promise<Cost> {
  const start = performance.now()
  const child = Bun.spawn([...command], { cwd, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })
  if ((await child.exited) !== 0) throw new Error(`${command.slice(0, 4).join(' ')} failed`)
  return { seconds: (performance.now() - start) / 1000, cpu: Number(child.resourceUsage()?.cpuTime.total) / 1e6 }
}

const measureRollcall = (args: readonly string[], folder: string) =>
  measure([process.execPath, CLI, ...args, '--list', 'sqlite:list.db'], folder)

function writeFiles(folder: string): void {
  const toLines = (numbers: readonly number[]) => numbers.map((number) => `${toAddress(number)}\n`).join('')
  writeFileSync(join(folder, 'new.txt'), toLines(Array.from({ length: SIZE }, (_, index) => index)))
  // Not in the order of the list. 40,503 has no common factor with two million.
  writeFileSync(
    join(folder, 'removed.txt'),
    toLines(Array.from({ length: REMOVED }, (_, index) => (index * 40_503) % SIZE)),
  )
}

function toRow({ title, addresses }: Pair, rollcall: Cost, sqlite3: Cost): string {
  const rate = Math.round(addresses / rollcall.seconds).toLocaleString('en')
  const ratios = [rollcall.seconds / sqlite3.seconds, rollcall.cpu / sqlite3.cpu].map((ratio) => ratio.toFixed(1))
  const times = [rollcall.seconds, rollcall.cpu, sqlite3.seconds, sqlite3.cpu].map((time) => time.toFixed(2))
  return `| ${[title, ...times, ...ratios, rate].join(' | ')} |`
}

async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-'))
  try {
    writeFiles(folder)
    console.log('| | Rollcall s | CPU s | sqlite3 s | CPU s | ratio | ratio of CPU | addresses/s |')
    console.log('|---|---|---|---|---|---|---|---|')
    for (const pair of PAIRS) {
      const rollcall = await measureRollcall(pair.rollcall, folder)
      const sqlite3 = await measure(['sqlite3', '-bail', 'list.sqlite3', ...pair.sqlite3], folder)
      console.log(toRow(pair, rollcall, sqlite3))
    }
    if (!process.argv.includes('--large')) return
    await copyLargeList(join(folder, 'list.db'))
    // The first run migrates a list of an older version.
    await measureRollcall(['count'], folder)
    const { seconds, cpu } = await measureRollcall(['count'], folder)
    console.log(`\ncount at ten million: ${seconds.toFixed(2)} s, ${cpu.toFixed(2)} s of CPU`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (Bun.which('sqlite3')) await run()
else console.error('sqlite3 is not installed: apt-get install sqlite3')
