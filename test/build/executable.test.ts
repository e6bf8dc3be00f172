/** The executable for this machine. It runs where there are neither sources nor packages. */

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { buildExecutable, HOST_TARGET } from '../../build/executable.ts'
import { version } from '../../package.json' with { type: 'json' }
import { runCommand, startService, writeForeignFiles } from '../support/service.ts'
import { createFolder } from '../support/workspace.ts'

test('the executable serves the page and the API, and runs commands next to the service', async () => {
  const folder = await createFolder()
  const program = join(folder, 'rollcall')
  await buildExecutable(HOST_TARGET, program, 'abc1234')
  await writeForeignFiles(folder)
  const run = (...args: readonly string[]) => runCommand(args, { folder, program: [program] })
  expect(await run('--version')).toEqual({ code: 0, stdout: `${version} (abc1234)\n`, stderr: '' })

  const service = await startService({ folder, command: [program, 'serve'] })
  const page = await load(service.origin)
  expect(page).toContain('<style>:root{--fill:')
  expect(await load(service.origin + /url\(([^)]+\.woff2)\)/.exec(page)?.[1])).toStartWith('wOF2')
  // Drawn by WebAssembly, with a font of its own.
  expect(await load(service.origin + /\/assets\/card[^"]+/.exec(page)?.[0])).toContain('PNG')
  const script = await load(service.origin + /<script type="module" src="([^"]+)"/.exec(page)?.[1])
  expect(script).toContain('fetch(')
  expect((await service.subscribe('ada@example.org')).status).toBe(200)
  expect(await run('count')).toEqual({ code: 0, stdout: '1\n', stderr: '' })
  expect(await run('backup', 'copy.db')).toMatchObject({ code: 0 })
  expect(await service.stop()).toBe(0)
  expect(await run('restore', 'copy.db')).toMatchObject({ code: 0 })
  expect(await run('has', 'ADA@example.org')).toMatchObject({ code: 0 })
})

async function load(url: string): Promise<string> {
  const response = await fetch(url)
  expect(response.status).toBe(200)
  return response.text()
}
