/** The service in a real terminal: what it says for a person. test/log.test.ts has the log for programs. */

import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { startInTerminal } from '../support/screen.ts'
import { until } from '../support/wait.ts'
import { createFolder } from '../support/workspace.ts'

async function serve(env: Readonly<Record<string, string>> = {}) {
  const folder = await createFolder()
  // With a list that exists, there is no warning about a new one.
  await openSqliteStore(join(folder, 'data/rollcall.db'), { access: 'create' }).close()
  const settings = { PORT: '0', HOST: '127.0.0.1', BASE_URL: 'http://list.example', ...env }
  const run = startInTerminal('exec rollcall serve', { columns: 200, folder, env: settings })
  async function stop() {
    run.type('\u0003')
    const { lines, exit } = await run.end()
    return { exit, lines: lines.filter((line) => !line.includes('^C')), last: lines.at(-1) }
  }
  return { folder, run, stop }
}

test('the log is text: what it serves, with which list and site file, and a command to try', async () => {
  const { run, stop } = await serve()
  await run.shows('curl ')
  const { exit, lines, last } = await stop()
  expect(exit).toBe(0)
  const [listening = '', tryIt = ''] = lines.map((line) => line.replace(/^\d\d:\d\d:\d\d /, ''))
  expect(listening).toMatch(
    /^info listening on 127\.0\.0\.1 port \d+ for http:\/\/list\.example, with Rollcall \d+\.\d+\.\d+, the list sqlite:data\/rollcall\.db and no site file$/,
  )
  expect(tryIt).toBe(
    `info try it: curl http://list.example/api/newsletter -H 'Content-Type: application/json' -d '{"email":"name@example.org"}'`,
  )
  expect(last).toMatch(/^\d\d:\d\d:\d\d info stopped$/)
})

test('LOG_LEVEL=warn hides these lines', async () => {
  const { folder, stop } = await serve({ LOG_LEVEL: 'warn' })
  await until(() => existsSync(join(folder, 'data/rollcall.db-wal')))
  expect((await stop()).lines).toEqual([])
})

test('a failure is readable: the message of the store, without JSON and without control characters', async () => {
  // A port that is free.
  using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = server
  await server.stop(true)
  const { folder, run, stop } = await serve({ DATABASE_URL: 'sqlite:a\u202fb/list.db', PORT: String(port) })
  await run.shows('curl ')
  await rm(join(folder, 'a\u202fb'), { recursive: true })
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify({ email: 'ada@site.io' })
  expect((await fetch(`http://127.0.0.1:${port}/api/newsletter`, { method: 'POST', headers, body })).status).toBe(500)
  await run.shows('the list is lost')
  const { lines } = await stop()
  // The look at the start, whether the service is ready, may meet the loss too, and has a line of its own.
  expect(lines.find((line) => line.includes('the store fails'))).toMatch(/^\d\d:\d\d:\d\d error the store fails: /)
  expect(lines.join('\n')).toMatch(/^ {2}the list is lost/m)
  expect(lines.join('')).not.toMatch(/{"level"|"err"/)
})
