/** Asks the running service, at OPS_HOST and OPS_PORT, or else at HOST and PORT. */

import { type Listener, readListener, readOps } from '../config/environment.ts'
import { Failure, toErrorCode } from '../failure.ts'
import { HEALTH_DEADLINE_MS } from '../limits.ts'
import { DOCUMENTS } from '../routes.ts'
import { note, print } from './output.ts'

/** `rollcall healthcheck`: asks the service whether it works, for a container. Needs no setting but ports and hosts. */
export async function healthcheck(): Promise<void> {
  const ops = readOps()
  if (ops) {
    await askService(ops, '/readyz', 'ok\n')
    await print('ok')
    return
  }
  // Only the public listener can be asked. The guide begins with a heading.
  await askService(readListener(), DOCUMENTS.llmsTxt.path, '# ')
  await print('ok')
  note('without OPS_PORT, this does not say whether the list can be written')
}

/** Returns the body of an answer, which begins with `start`. @throws Failure when there is no such answer in HEALTH_DEADLINE_MS */
export async function askService({ host, port }: Listener, path: string, start: string): Promise<string> {
  // An IPv6 address has brackets in a URL.
  const urlHost = host.includes(':') ? `[${host}]` : host
  const url = `http://${urlHost}:${port}${path}`
  const stranger = new Failure(`${url}: another program answers: correct the host and the port in the settings`)
  const signal = AbortSignal.timeout(HEALTH_DEADLINE_MS)
  // A proxy of the environment is for the internet.
  const response = fetch(url, { proxy: false, redirect: 'manual', signal })
  const read = response.then(async (found) => ({ status: found.status, text: await found.text() }))
  const { status, text } = await read.catch((error: unknown) => {
    const code = toErrorCode(error)
    if (code === 'ECONNREFUSED') {
      throw new Failure(`${url}: nothing listens: start the service, such as with: systemctl start rollcall`)
    }
    if (code === 'ECONNRESET') throw stranger
    if (signal.aborted) {
      const wait = `no answer within ${HEALTH_DEADLINE_MS / 1000} s`
      throw new Failure(`${url}: ${wait}: restart the service, or correct the port in the settings`)
    }
    // Such as a name or a network that leads nowhere.
    throw new Failure(`${url}: nothing can be reached there (${code}): correct the host in the settings`)
  })
  if (status === 200 && text.startsWith(start)) return text
  // The words of Rollcall are one line.
  const isOurs = status === 503 && /^the store [^\n]+\n$/.test(text)
  throw isOurs ? new Failure(`${url}: 503, ${text.trim()}: see the log of the service`) : stranger
}
