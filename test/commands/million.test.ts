/** Import and export of a million addresses: an import keeps its file in memory, an export keeps a page of the list. */

import { expect, test } from 'bun:test'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { createCliFixture } from '../support/cli-fixture.ts'
import { CLI } from '../support/paths.ts'

const MIB = 1024 * 1024
const SIZE = 1_000_000

/**
 * Runs a command and prints the peak of its memory, in bytes, on standard error. A process of its own, because Linux
 * starts the count of a new process at the size of its parent, and this test process is large.
 */
const LAUNCHER = `
  const child = Bun.spawn(process.argv.slice(1), { stdout: 'inherit', stderr: 'ignore' })
  process.exitCode = await child.exited
  console.error(child.resourceUsage().maxRSS)
`

test('a million addresses are imported and exported in bounded memory', async () => {
  const { folder, list, print } = await createCliFixture()
  const toLine = (index: number) => `user.${index}@site-${index % 101}.io\n`

  async function run(...args: string[]) {
    const child = Bun.spawn([process.execPath, '-e', LAUNCHER, process.execPath, CLI, ...args], {
      cwd: folder,
      env: { ...process.env, DATABASE_URL: list },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, memory] = await Promise.all([child.stdout.text(), child.stderr.text()])
    expect(await child.exited).toBe(0)
    return { stdout, memory: Number(memory) / MIB }
  }

  const file = Bun.file(join(folder, 'list.txt')).writer()
  for (let index = 0; index < SIZE; index++) file.write(toLine(index))
  await file.end()

  const imported = await run('import', 'list.txt', '--json')
  expect(JSON.parse(imported.stdout)).toMatchObject({ added: SIZE, known: 0, suppressed: 0, rejected: 0 })
  expect(imported.memory, 'peak memory of the import, MiB').toBeLessThan(600)

  const exported = await run('export', '--format', 'txt', '--out', 'out.txt')
  expect(exported.memory, 'peak memory of the export, MiB').toBeLessThan(150)
  const digest = async (name: string) => {
    const hash = new Bun.CryptoHasher('sha256')
    for await (const chunk of createReadStream(join(folder, name))) hash.update(chunk)
    return hash.digest('hex')
  }
  expect(await digest('out.txt')).toBe(await digest('list.txt'))
  expect(await print(['count'])).toBe(`${SIZE}\n`)
}, 120_000)
