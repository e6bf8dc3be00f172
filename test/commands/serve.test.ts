/** The service in a real terminal: what it says for a person. test/log.test.ts has the log for programs. */

import { expect, onTestFinished, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startInTerminal } from '../support/screen.ts'
import { createFolder } from '../support/service.ts'
import { until } from '../support/wait.ts'

async function serve(env: Readonly<Record<string, string>>) {
  const folder = await createFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  const settings = { PORT: '0', HOST: '127.0.0.1', BASE_URL: 'http://list.example', ...env }
  return { folder, run: startInTerminal('exec rollcall serve', { columns: 200, folder, env: settings }) }
}

test('three lines: what it serves, where the list is, and a command to try; then the log as text', async () => {
  const { folder, run } = await serve({})
  await run.shows('curl ')
  run.type('\u0003')
  const { lines, exit } = await run.end()
  expect(exit).toBe(0)
  const shown = lines.filter((line) => !line.startsWith('^C'))
  expect(shown.slice(0, 3)).toEqual([
    expect.stringMatching(/^Rollcall serves http:\/\/list\.example on 127\.0\.0\.1 port \d+\. Ctrl-C stops it\.$/),
    `The list is ${join(folder, 'data/rollcall.db')}`,
    `Try it: curl http://list.example/api/newsletter -H 'Content-Type: application/json' -d '{"email":"name@example.org"}'`,
  ])
  expect(lines.at(-1)).toMatch(/^\d\d:\d\d:\d\d info stopped$/)
  expect(lines.join('')).not.toContain('{"level"')
})

test('LOG_LEVEL=warn hides the three lines', async () => {
  const { folder, run } = await serve({ LOG_LEVEL: 'warn' })
  await until(() => existsSync(join(folder, 'data/rollcall.db')))
  run.type('\u0003')
  const { lines } = await run.end()
  expect(lines.filter((line) => !line.includes('^C'))).toEqual([])
})

test('a failure is readable: the message of the store, without JSON and without control characters', async () => {
  const port = findFreePort()
  const { folder, run } = await serve({ DATABASE_URL: 'sqlite:a\u202fb/list.db', PORT: port })
  await run.shows('curl ')
  await rm(join(folder, 'a\u202fb'), { recursive: true })
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify({ email: 'ada@site.io' })
  expect((await fetch(`http://127.0.0.1:${port}/api/newsletter`, { method: 'POST', headers, body })).status).toBe(500)
  await run.shows('the list is lost')
  run.type('\u0003')
  const { lines } = await run.end()
  expect(lines.find((line) => line.includes('error'))).toMatch(/^\d\d:\d\d:\d\d error the store fails: /)
  expect(lines.join('\n')).toMatch(/^ {2}the list is lost/m)
  expect(lines.join('')).not.toMatch(/{"level"|"err"/)
})

function findFreePort(): string {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const port = String(server.port)
  server.stop(true)
  return port
}
