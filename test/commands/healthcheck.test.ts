/** `healthcheck` and a running service. */

import { expect, onTestFinished, test } from 'bun:test'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { runCommand, startService } from '../support/service.ts'

test('exit code 0 while the service works, also for an address that stands for all; 1 when it has stopped', async () => {
  const service = await startService({ env: { OPS_PORT: '0' } })
  // A site file that is wrong, and a proxy for the internet, do not matter.
  const env = { OPS_PORT: String(service.opsPort), SITE_FILE: 'none.yaml', http_proxy: 'http://127.0.0.1:1' }
  for (const OPS_HOST of ['', '0.0.0.0', 'localhost']) {
    const result = await runCommand(['healthcheck'], { env: { ...env, OPS_HOST } })
    expect(result).toEqual({ code: 0, stdout: 'ok\n', stderr: '' })
  }
  await service.stop()
  const stderr = `rollcall: http://127.0.0.1:${service.opsPort}/readyz: nothing listens: start the service, such as with: systemctl start rollcall\n`
  expect(await runCommand(['healthcheck'], { env })).toEqual({ code: 1, stdout: '', stderr })
})

test('without OPS_PORT, it says whether the service listens', async () => {
  const service = await startService()
  const env = { PORT: String(service.port) }
  expect(await runCommand(['healthcheck'], { env })).toEqual({
    code: 0,
    stdout: 'ok\n',
    stderr: 'without OPS_PORT, this does not say whether the list can be written\n',
  })
  await service.stop()
  const stderr = `rollcall: http://0.0.0.0:${service.port}/llms.txt: nothing listens: start the service, such as with: systemctl start rollcall\n`
  expect(await runCommand(['healthcheck'], { env })).toEqual({ code: 1, stdout: '', stderr })
})

test.each<readonly [what: string, says: string, respond: RequestListener]>([
  [
    'a service whose store fails',
    '/readyz: 503, the store fails: see the log of the service',
    (_, response) => void response.writeHead(503).end('the store fails\n'),
  ],
  [
    'another program',
    '/readyz: another program answers: correct the host and the port in the settings',
    (_, response) => void response.setHeader('Content-Type', 'text/html').end('<p>ok</p>\n'),
  ],
  [
    'another program that redirects to a page of its own',
    '/readyz: another program answers: correct the host and the port in the settings',
    ({ url }, response) =>
      url === '/readyz' ? void response.writeHead(302, { Location: '/ok' }).end() : void response.end('ok\n'),
  ],
  [
    'a service that does not answer',
    '/readyz: no answer within 6 s: restart the service, or correct the port in the settings',
    () => {},
  ],
  [
    'a program that does not speak HTTP',
    '/readyz: another program answers: correct the host and the port in the settings',
    (request) => void request.socket.end('SSH-2.0\r\n'),
  ],
])('exit code 1 for %s: %s', async (_, says, respond) => {
  const server = createServer(respond)
  onTestFinished(() => void server.close().closeAllConnections())
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  expect(await runCommand(['healthcheck'], { env: { OPS_PORT: String(port) } })).toEqual({
    code: 1,
    stdout: '',
    stderr: `rollcall: http://127.0.0.1:${port}${says}\n`,
  })
})

test('exit code 1 for a host that leads nowhere: nothing answers there, so no other program does', async () => {
  const env = { OPS_PORT: '9000', OPS_HOST: 'nobody.invalid' }
  const stderr =
    'rollcall: http://nobody.invalid:9000/readyz: nothing can be reached there (ENOTFOUND): correct the host in the settings\n'
  expect(await runCommand(['healthcheck'], { env })).toEqual({ code: 1, stdout: '', stderr })
})
