/** Spellings of paths that a rule of a proxy does not match. None may lead to a resource. */

import { check } from '../check.ts'
import { connect } from '../connection.ts'
import type { Attack } from './attack.ts'

/** Spellings of the path of the endpoint, of documents and of a page. */
export const ALIASES = [
  ...['/api\\newsletter', '/api/%2e/newsletter', '/api/%6eewsletter', '/api//newsletter', '/api/newsletter/'],
  ...['/API/newsletter', '/api/newsletter;x=y', '/x/../api/newsletter', '/./api/newsletter', '\\api\\newsletter'],
  ...['/x/../robots.txt', '/./openapi.json', '//llms.txt', '/openapi%2ejson', '/openapi.json/.', '/%2e%2e/robots.txt'],
  ...['/x/%2e%2e/robots.txt', '/x/.%2e/robots.txt', '/de/', '/./de'],
]

const HOSTS = ['127.0.0.1', 'localhost:1', 'a b', '']

const BODY = '{"email":"alias@example.org"}'

export const aliases: Attack = {
  name: 'aliases of paths',
  async run({ createList }) {
    const list = await createList()
    const service = await list.serve()
    for (const path of ALIASES) {
      for (const host of HOSTS) {
        for (const method of ['GET', 'POST']) {
          const status = await ask(service.port, { method, path, host })
          // The runtime may refuse the bytes before the service sees them.
          const isRefused = status === 404 || (status === 400 && !path.startsWith('/'))
          check(isRefused, () => `${method} ${path} with Host "${host}" is answered ${status ?? 'not at all'}`)
        }
      }
    }
    await service.stop()
    const count = await list.run(['count'])
    check(Number(count) === 0, () => 'an alias of the endpoint has subscribed an address')
    return { 'aliases of paths': ALIASES.length }
  },
}

async function ask(
  port: number,
  { method, path, host }: { readonly method: string; readonly path: string; readonly host: string },
): Promise<number | undefined> {
  const connection = await connect(port)
  const body = method === 'GET' ? '' : `Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`
  const reply = await connection.request(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${body || '\r\n'}`, method)
  connection.close()
  return reply?.status
}
