/**
 * `npm run test:proxies`: runs Rollcall behind real proxies with the files of deploy/, and checks what a client sees. Prints a table in Markdown.
 *
 * Not part of `npm test`: the proxies must be installed. Exit code 1 when one is missing, or when a check fails.
 */

import { readList } from '../support/list-file.ts'
import { requirePrograms } from '../support/programs.ts'
import { type RunningService, startService } from '../support/service.ts'
import { BASE_URL, CHECKS } from './checks.ts'
import { CLIENTS, checkClient } from './clients.ts'
import { readVersion, startProxy } from './proxy.ts'
import { SETUPS, type Setup } from './setups.ts'

requirePrograms({
  nginx: 'nginx',
  caddy: 'caddy',
  haproxy: 'haproxy',
  openssl: 'openssl',
  curl: 'curl',
  python3: 'python3',
})

let failures = 0
const service = await startService({ env: { BASE_URL } })
const columns: (readonly string[])[] = []
for (const setup of SETUPS) columns.push(await runChecks(setup, service))

console.log(toRow(['', ...SETUPS.map((setup) => `${setup.name} ${readVersion(setup)}`)]))
console.log(toRow(['---', ...SETUPS.map(() => '---')]))
CHECKS.forEach(({ name }, index) => void console.log(toRow([name, ...columns.map((column) => column[index] ?? '')])))
console.log()
for (const client of CLIENTS) {
  console.log(
    `${client.program}, without a proxy: ${await attempt(client.program, () => checkClient(client, service.origin))}`,
  )
}
await service.stop()
process.exit(failures > 0 ? 1 : 0)

/** Runs all checks against a proxy. Returns a cell of the table for each. */
async function runChecks(setup: Setup, { port, folder }: RunningService): Promise<readonly string[]> {
  const proxy = await startProxy(setup, port)
  const cells: string[] = []
  for (const { name, run } of CHECKS) {
    cells.push(await attempt(`${setup.name}: ${name}`, () => run({ setup, proxy, readList: () => readList(folder) })))
  }
  await proxy.stop()
  return cells
}

async function attempt(name: string, run: () => string | Promise<string>): Promise<string> {
  try {
    return await run()
  } catch (error) {
    failures++
    console.error(`${name}: ${error instanceof Error ? error.message : error}`)
    return '**fails**'
  }
}

function toRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}
