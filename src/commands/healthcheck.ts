import { get as httpGet } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import type { Command } from 'commander'
import { readOps } from '../config/environment.ts'
import { Failure, UsageError } from '../failure.ts'
import { HEALTH_DEADLINE_MS } from '../limits.ts'
import { createCommand } from './list-command.ts'
import { print } from './output.ts'

/** `rollcall healthcheck`: asks the running service whether it works, for a container. Reads OPS_PORT and OPS_HOST only. */
export function createHealthcheckCommand(): Command {
  return createCommand(
    'healthcheck',
    'Ask the service on this machine whether it runs and its store works',
    'OPS_PORT=9000 rollcall healthcheck',
  ).action(async () => {
    const ops = readOps()
    if (!ops) throw new UsageError('OPS_PORT is missing: set it for the service and for this command')
    const origin = `http://${toReachable(ops.host)}:${ops.port}`
    for (const path of ['/livez', '/readyz']) await ask(origin + path)
    await print('ok')
  })
}

/** @throws Failure when the answer is not 200, or does not come within HEALTH_DEADLINE_MS */
async function ask(url: string): Promise<void> {
  const { status, text } = await get(url).catch((error: unknown) => {
    const isLate = error instanceof Error && error.name === 'AbortError'
    const reason = isLate ? `no answer within ${HEALTH_DEADLINE_MS / 1000} s` : 'the service does not listen'
    throw new Failure(`${url}: ${reason}`)
  })
  if (status !== 200) throw new Failure(`${url}: ${status}, ${text.trim()}`)
}

/** Sends a request. Not with `fetch`, which would use the proxy of the environment. */
function get(url: string): Promise<{ status: number | undefined; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined; text: string }>()
  const request = httpGet(url, { agent: false, signal: AbortSignal.timeout(HEALTH_DEADLINE_MS) }, (response) => {
    readText(response).then((text) => resolve({ status: response.statusCode, text }), reject)
  })
  request.on('error', reject)
  return promise
}

/** Converts an address that the service binds to one that a client can connect to. */
function toReachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
