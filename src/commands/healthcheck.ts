/** Asks the running service, at OPS_HOST and OPS_PORT. */

import { once } from 'node:events'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { type Listener, readListener, readOps } from '../config/environment.ts'
import { Failure, toErrorCode } from '../failure.ts'
import { HEALTH_DEADLINE_MS } from '../limits.ts'
import { DOCUMENTS } from '../routes.ts'
import { note, print } from './output.ts'

/** `rollcall healthcheck`: asks the service whether it works, for a container. Needs no setting but ports and hosts. */
export async function healthcheck(): Promise<void> {
  const ops = readOps()
  if (!ops) return await checkListening()
  const answer = await askService(ops, '/readyz')
  if (answer === undefined) throw new Failure(`${toUrl(ops, '/readyz')}: no service listens`)
  if (answer !== 'ok\n') throw toStranger(toUrl(ops, '/readyz'))
  await print('ok')
}

/** Without OPS_PORT, only the public listener can be asked. @throws Failure when no service listens there */
async function checkListening(): Promise<void> {
  const listener = readListener()
  const { path } = DOCUMENTS.llmsTxt
  const answer = await get(toUrl(listener, path), AbortSignal.timeout(HEALTH_DEADLINE_MS)).catch(() => undefined)
  if (answer?.status !== 200) throw new Failure(`${toUrl(listener, path)}: no service listens`)
  await print('ok')
  note('without OPS_PORT, this does not say whether the list can be written')
}

/**
 * Returns the body of an answer; undefined when nothing listens.
 *
 * @throws Failure when the status is not 200, or the answer does not come in HEALTH_DEADLINE_MS
 */
export async function askService(ops: Listener, path: string): Promise<string | undefined> {
  const url = toUrl(ops, path)
  const signal = AbortSignal.timeout(HEALTH_DEADLINE_MS)
  let answer: Answer
  try {
    answer = await get(url, signal)
  } catch (error) {
    const seconds = HEALTH_DEADLINE_MS / 1000
    if (signal.aborted)
      throw new Failure(`${url}: no answer within ${seconds} s: restart the service, or correct OPS_PORT`)
    if (toErrorCode(error) === 'ECONNREFUSED') return undefined
    throw toStranger(url)
  }
  if (answer.status === 200) return answer.text
  // The words of Rollcall are one line.
  const isOurs = answer.status === 503 && /^the store [^\n]+\n$/.test(answer.text)
  throw isOurs ? new Failure(`${url}: 503, ${answer.text.trim()}: see the log of the service`) : toStranger(url)
}

/** The error for an answer that is not one of Rollcall. */
export function toStranger(url: string): Failure {
  return new Failure(`${url}: another program answers: correct OPS_PORT and OPS_HOST`)
}

interface Answer {
  readonly status: number | undefined
  readonly text: string
}

/** Sends a request. Not with `fetch`, which would use the proxy of the environment. */
async function get(url: string, signal: AbortSignal): Promise<Answer> {
  const [response] = (await once(httpGet(url, { agent: false, signal }), 'response')) as [IncomingMessage]
  return { status: response.statusCode, text: await readText(response) }
}

function toUrl({ host, port }: Listener, path: string): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`
}
