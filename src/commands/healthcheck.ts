/** Sends requests to the running service, at OPS_HOST and OPS_PORT. */

import { once } from 'node:events'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { type Listener, readOps } from '../config/environment.ts'
import { Failure, UsageError } from '../failure.ts'
import { HEALTH_DEADLINE_MS } from '../limits.ts'
import { print } from './output.ts'

/** `rollcall healthcheck`: asks the service whether it works, for a container. Needs no setting but OPS_PORT and OPS_HOST. */
export async function healthcheck(): Promise<void> {
  const ops = readOps()
  if (!ops) throw new UsageError('OPS_PORT is missing: set it for the service and for this command')
  const answer = await askService(ops, '/readyz')
  if (answer === undefined) throw new Failure(`${toUrl(ops, '/readyz')}: the service does not listen`)
  if (answer !== 'ok\n')
    throw new Failure(`${toUrl(ops, '/readyz')} is the address of another program: correct OPS_PORT`)
  await print('ok')
}

/**
 * Returns the body of an answer; undefined when no service listens.
 *
 * @throws Failure when the status is not 200, or the answer does not come in HEALTH_DEADLINE_MS
 */
export async function askService(ops: Listener, path: string): Promise<string | undefined> {
  const url = toUrl(ops, path)
  const signal = AbortSignal.timeout(HEALTH_DEADLINE_MS)
  const answer = await get(url, signal).catch(() => {
    if (signal.aborted) throw new Failure(`${url}: no answer within ${HEALTH_DEADLINE_MS / 1000} s`)
  })
  if (answer && answer.status !== 200) {
    const text = answer.text.trim().slice(0, 80)
    throw new Failure(`${url}: ${answer.status}, ${text}: see the log of the service, or correct OPS_PORT`)
  }
  return answer?.text
}

/** Sends a request. Not with `fetch`, which would use the proxy of the environment. */
async function get(url: string, signal: AbortSignal): Promise<{ status: number | undefined; text: string }> {
  const [response] = (await once(httpGet(url, { agent: false, signal }), 'response')) as [IncomingMessage]
  return { status: response.statusCode, text: await readText(response) }
}

function toUrl({ host, port }: Listener, path: string): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`
}
