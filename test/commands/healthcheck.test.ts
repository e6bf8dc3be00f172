/** `healthcheck` and a running service. */

import { expect, test } from 'bun:test'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { runCommand, startService } from '../support/service.ts'

test('exit code 0 while the service works, also for an address that stands for all; 1 when it has stopped', async () => {
  const service = await startService({ env: { OPS_PORT: '0' } })
  // A site file that is wrong, and a proxy for the internet, do not matter.
  const env = { OPS_PORT: String(service.opsPort), SITE_FILE: 'none.yaml', http_proxy: 'http://127.0.0.1:1' }
  for (const OPS_HOST of ['', '0.0.0.0', 'localhost']) {
    expect(await runCommand(['healthcheck'], { env: { ...env, OPS_HOST } })).toEqual({
      code: 0,
      stdout: 'ok\n',
      stderr: '',
    })
  }
  await service.stop()
  const stderr = `rollcall: http://127.0.0.1:${service.opsPort}/livez: the service does not listen\n`
  expect(await runCommand(['healthcheck'], { env })).toEqual({ code: 1, stdout: '', stderr })
})

test('exit code 1 when the store fails', async () => {
  const server = createServer(({ url }, response) => {
    response.writeHead(url === '/livez' ? 200 : 503).end('the store fails\n')
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  expect(await runCommand(['healthcheck'], { env: { OPS_PORT: String(port) } })).toEqual({
    code: 1,
    stdout: '',
    stderr: `rollcall: http://127.0.0.1:${port}/readyz: 503, the store fails\n`,
  })
  server.close()
})

test('a service that does not answer is late', async () => {
  const server = createServer(() => {})
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const { code, stderr } = await runCommand(['healthcheck'], { env: { OPS_PORT: String(port) } })
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('/livez: no answer within 6 s') })
  server.closeAllConnections()
  server.close()
})

test('exit code 2 without OPS_PORT', async () => {
  const { code, stderr } = await runCommand(['healthcheck'])
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^rollcall: OPS_PORT is missing.*\n$/) })
})
