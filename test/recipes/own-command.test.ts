/** The commands of an owner, as the guide shows them. */

import { expect, onTestFinished, test } from 'bun:test'
import { createCliFixture } from '../support/cli-fixture.ts'
import { findBlock } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'
import { PROGRAM } from '../support/program.ts'
import { NO_ENV_FILE } from '../support/service.ts'
import { until } from '../support/wait.ts'

/** A machine may have no curl. */
const CURL = Bun.which('curl') ?? `${process.execPath} ${ROOT}/test/docs/curl.ts`

/** A service of the owner, which keeps what it gets. */
function startReceiver(getStatus: () => number) {
  const bodies: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      bodies.push(await request.text())
      return new Response(null, { status: getStatus() })
    },
  })
  onTestFinished(() => server.stop(true))
  return { bodies, origin: server.url.origin }
}

test('send-welcome: the service gets the lines; when it fails, the same people are handed over again', async () => {
  let status = 500
  const { bodies, origin } = startReceiver(() => status)
  const { print, run, write, shell } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  const { text } = findBlock('docs/hand-over.md', 'sh', 'welcome')
  await write('send-welcome', text.replace('exec curl', `exec ${CURL}`).replace('https://mail.example.org', origin))
  await shell('chmod +x send-welcome')
  const args = ['export', '--cursor-file', 'c', '--format', 'ndjson', '--exec', './send-welcome']
  expect((await run(args)).code).toBe(1)
  status = 200
  expect((await run(args)).code).toBe(0)
  expect(bodies).toHaveLength(2)
  expect(bodies[1]).toBe(bodies[0] ?? '')
  // The line of the guide has the same form.
  const toForm = (line: string) => Object.entries(JSON.parse(line)).map(([key, value]) => `${key}: ${typeof value}`)
  expect(toForm(bodies[0] ?? '')).toEqual(toForm(findBlock('docs/hand-over.md', 'json', 'line').text))
})

test('a notifier gets the number of new readers, and no address', async () => {
  const { bodies, origin } = startReceiver(() => 200)
  const { folder, list, print } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\nbob@site.io\n')
  const { text } = findBlock('docs/hand-over.md', 'sh', 'notify')
  const command = text
    .replace('sudo rollcall', `exec ${PROGRAM}`)
    .replace('curl', CURL)
    .replace('https://ntfy.example.org', origin)
  const env = { PATH: process.env.PATH, ...NO_ENV_FILE, DATABASE_URL: list }
  const child = Bun.spawn(['bash', '-c', command], { cwd: folder, env, stdio: ['ignore', 'ignore', 'ignore'] })
  onTestFinished(() => child.kill('SIGKILL'))
  await until(() => bodies.length === 1)
  await print(['import', '-'], 'cyd@site.io\n')
  await until(() => bodies.length === 2)
  expect(bodies.map((body) => body.trim())).toEqual(['2', '1'])
  child.kill()
  await child.exited
})
