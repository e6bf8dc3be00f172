/** Large lists: the memory that commands need for them, and the service meanwhile. */

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CliFixture, createCliFixture } from '../support/cli-fixture.ts'
import { readText } from '../support/markdown.ts'
import { PROGRAM } from '../support/program.ts'
import { runCommand, startService } from '../support/service.ts'

/** Starts a command, and prints its exit code and the peak of its memory in bytes. */
const MEASURE = `
  const { exitCode, resourceUsage } = Bun.spawnSync(process.argv.slice(1))
  console.log(exitCode, resourceUsage.maxRSS)
`

/**
 * Runs a command to its end, and returns the peak of its memory in MiB. A small process starts it: the kernel counts the memory of the
 * one that starts a command, and a run of tests has more than a command.
 */
async function measure({ folder, list }: CliFixture, ...args: string[]): Promise<number> {
  const program = [process.execPath, '--no-env-file', '--config=/dev/null', '-e', MEASURE, PROGRAM]
  const { stdout, stderr } = await runCommand(args, { program, folder, env: { DATABASE_URL: list } })
  const [code, bytes] = stdout.split(' ').map(Number)
  expect([code, stderr]).toEqual([0, expect.any(String)])
  return Number(bytes) / 1024 ** 2
}

// Each peak is compared with that of the same command and one address: the runtime alone needs more on one machine than on another.
test('the memory of an import grows with its file, and that of no command with the list', async () => {
  const small = await createCliFixture()
  const large = await createCliFixture()
  const rows = 300_000
  const lines = Array.from({ length: rows }, (_, index) => `user.${index}@site-${index % 101}.io\n`)
  await large.write('list.txt', lines.join(''))
  for (const { write } of [small, large]) await write('one.txt', 'ada@site.io\n')
  const toExport = ['export', '--format', 'txt', '--out', 'out.txt']

  const runtime = await measure(small, 'import', 'one.txt')
  const [, megabytes] = /about (\d+) MB of memory for a million rows/.exec(readText('docs/import.md')) ?? []
  // The peak also has what the runtime has not collected yet: on a busy machine, it collects later.
  const promised = (Number(megabytes) * rows) / 1024 ** 2
  expect((await measure(large, 'import', 'list.txt')) - runtime).toBeWithin(1, 1.5 * promised)
  // The whole list in memory would be 60 more.
  expect((await measure(large, 'import', 'one.txt')) - runtime).toBeLessThan(45)
  expect((await measure(large, ...toExport)) - (await measure(small, ...toExport))).toBeLessThan(45)

  const exported = readFileSync(join(large.folder, 'out.txt'), 'utf8').split(/(?<=\n)/)
  expect(exported.sort().join('') === [...lines, 'ada@site.io\n'].sort().join('')).toBe(true)
})

test('during a large import, a service accepts every address, and each is on the list once', async () => {
  const service = await startService()
  const list = `sqlite:${service.folder}/data/rollcall.db`
  const { print, rows } = await createCliFixture()
  const size = 50_000
  const text = Array.from({ length: size }, (_, index) => `user.${index}@site.io\n`).join('')
  let isDone = false
  /** Posts one address after the other; half of them are in the file too. */
  async function postUntilDone(client: number): Promise<void> {
    for (let turn = 0; !isDone; turn++) {
      const email = turn % 2 ? `user.${turn * 7 + client}@site.io` : `client.${client}.${turn}@site.io`
      const { status } = await service.subscribe(email)
      expect(status, service.log()).toBe(200)
    }
  }
  const clients = Array.from({ length: 8 }, (_, client) => postUntilDone(client))
  const { added, already_listed } = JSON.parse(await print(['import', '-', '--json', '--list', list], text))
  isDone = true
  await Promise.all(clients)

  expect(added + already_listed).toBe(size)
  const emails = (await rows(list)).map(({ email }) => email)
  expect(new Set(emails).size).toBe(emails.length)
  expect(emails.filter((email) => email.startsWith('user.'))).toHaveLength(size)
  await service.stop()
})
