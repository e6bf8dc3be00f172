/** The command of an owner, as the guide shows it: its subscribers count as handed over when its service has them. */

import { expect, onTestFinished, test } from 'bun:test'
import { createCliFixture } from '../support/cli-fixture.ts'
import { findBlock } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'

test('send-welcome: the service gets the lines; when it fails, the same people are handed over again', async () => {
  const bodies: string[] = []
  let status = 500
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      bodies.push(await request.text())
      return new Response(null, { status })
    },
  })
  onTestFinished(() => server.stop(true))
  const { print, run, write, shell } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  const { text } = findBlock('docs/hand-over.md', 'sh', 'welcome')
  // A machine may have no curl.
  const curl = Bun.which('curl') ?? `${process.execPath} ${ROOT}/test/docs/curl.ts`
  const command = text.replace('exec curl', `exec ${curl}`).replace('https://mail.example.org', server.url.origin)
  await write('send-welcome', command)
  await shell('chmod +x send-welcome')
  const args = ['export', '--cursor-file', 'c', '--format', 'ndjson', '--exec', './send-welcome']
  expect((await run(args)).code).toBe(1)
  status = 200
  expect((await run(args)).code).toBe(0)
  expect(bodies).toHaveLength(2)
  expect(bodies[0]).toStartWith('{"email":"ada@site.io","subscribed_at":"')
  expect(bodies[1]).toBe(bodies[0] ?? '')
})
