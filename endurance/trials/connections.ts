/** Many idle connections, slow requests and endless bodies: other callers are served, and memory stays bounded. */

import { readFileSync } from 'node:fs'
import { startClient } from '../clients/client.ts'
import type { FloodOptions, FloodReport } from '../clients/flood.ts'
import type { HoldOptions, HoldReport } from '../clients/hold.ts'
import { type Exchange, startLoad } from '../load.ts'
import { byIdentity, ENDPOINT, readList, type Service, startService } from '../rollcall.ts'
import { quantile } from '../statistics.ts'
import { check, type Figures, type Trial } from '../trial.ts'
import { readMemory } from '../usage.ts'

/** Milliseconds in which other callers are served. */
const MOST_MS = 5_000
const MOST_P99_MS = 1_000

/** Resident memory of the service in MiB, at most, at any time. */
const MOST_MEMORY = 400

/** Seconds for which connections are held: longer than the deadline of a body, shorter than the idle timeout. */
const HOLD_S = 15

/** File descriptors that a process needs in addition to its connections. */
const SPARE = 200

export const connections: Trial = {
  name: 'connections',
  promise:
    '10,000 idle connections, 2,000 slow heads and bodies, 1 GB bodies: other callers are served, memory is bounded',
  stores: ['sqlite'],
  minutes: 2,
  async run(context) {
    const { folder, createList, amount } = context
    const wanted = amount(10_000, 500)
    const limit = raiseLimit(wanted + SPARE)
    const many = Math.min(wanted, limit.files - SPARE)
    const list = await createList()
    const service = await startService(list, { folder, by: limit.by })
    const others = watchOthers(service)

    const idle = await others.during('idle connections', () =>
      hold({ port: service.port, connections: many, seconds: HOLD_S, kind: 'idle' }, limit.by),
    )
    check(idle.opened === many, () => `${idle.opened} of ${many} idle connections were opened`)
    const slow = amount(2_000, 200)
    const [heads, bodies] = await others.during('slow heads and bodies', () =>
      Promise.all([
        hold({ port: service.port, connections: slow, seconds: HOLD_S, kind: 'slow heads' }, limit.by),
        hold({ port: service.port, connections: slow, seconds: HOLD_S, kind: 'slow bodies' }, limit.by),
      ]),
    )
    check(heads.opened === slow, () => `${heads.opened} of ${slow} connections with slow heads were opened`)
    check(bodies.statuses['408'] === slow, () => `${slow} slow bodies are answered ${JSON.stringify(bodies)}`)
    const bytes = amount(2 ** 30, 2 ** 26)
    const floods = await others.during('endless bodies', () => flood(service.port, bytes))
    await others.stop()
    await service.stop()
    const listed = byIdentity(await readList(list, { folder }))
    const lost = others.acknowledged().filter((email) => !listed.has(email))
    check(lost.length === 0, () => `${lost.length} acknowledged addresses are lost`)
    return {
      'idle connections': many === wanted ? many : `${many} of ${wanted}: the limit of files is ${limit.files}`,
      'connections with slow heads, and with slow bodies': slow,
      'bytes of an endless body': bytes,
      ...floods,
      ...others.figures(),
    }
  },
}

/** Callers that subscribe all the time, and what they and the memory of the service show. */
function watchOthers(service: Service) {
  const exchanges: Exchange[] = []
  const figures: Record<string, string> = {}
  let number = 0
  const load = startLoad(() => service.port, {
    callers: 4,
    pauseMs: 5,
    nextEmail: () => `other${number++}@example.org`,
    onReply: (exchange) => exchanges.push(exchange),
  })

  async function during<Value>(name: string, work: () => Promise<Value>): Promise<Value> {
    const from = performance.now()
    const value = await work()
    const seen = exchanges.filter(({ endedAt }) => endedAt > from)
    const times = seen.map(({ startedAt, endedAt }) => endedAt - startedAt)
    const [p99, most] = [quantile(times, 0.99), quantile(times, 1)]
    const { peak } = readMemory(service.process.pid)
    const failed = seen.find(({ status }) => status !== 200)
    check(seen.length > 0, () => `${name}: no other caller is served`)
    check(!failed, () => `${name}: another caller is answered ${failed?.status ?? 'not at all'}`)
    check(
      p99 <= MOST_P99_MS && most <= MOST_MS,
      () => `${name}: others wait ${p99.toFixed(0)} ms (p99), ${most.toFixed(0)} ms (slowest)`,
    )
    check(peak <= MOST_MEMORY, () => `${name}: the service takes ${peak.toFixed(0)} MiB, more than ${MOST_MEMORY}`)
    figures[`${name}: other callers`] =
      `${seen.length} requests, p99 ${p99.toFixed(1)} ms, slowest ${most.toFixed(0)} ms`
    figures[`${name}: peak memory`] = `${peak.toFixed(0)} MiB`
    return value
  }

  return {
    during,
    stop: () => load.stop(),
    figures: (): Figures => figures,
    acknowledged: () => exchanges.filter(({ status }) => status === 200).map(({ email }) => email),
  }
}

/** Runs the client that holds connections. Returns what it saw at the end. */
async function hold(options: HoldOptions, by: readonly string[]): Promise<HoldReport> {
  const { lines, ended } = startClient('hold', options, by)
  let report: HoldReport = { opened: 0, closed: 0, statuses: {} }
  for await (const line of lines) report = line as HoldReport
  await ended
  return report
}

/** Sends endless bodies at once, to the endpoint and to a document. */
async function flood(port: number, bytes: number): Promise<Figures> {
  const requests: Omit<FloodOptions, 'port' | 'bytes'>[] = [
    { framing: 'length', line: `POST ${ENDPOINT}` },
    { framing: 'chunked', line: `POST ${ENDPOINT}` },
    { framing: 'length', line: 'GET /openapi.json' },
    { framing: 'chunked', line: 'POST /nowhere' },
  ]
  const reports = await Promise.all(
    requests.map(async (request) => {
      const { lines } = startClient('flood', { ...request, port, bytes } satisfies FloodOptions)
      const { value } = await lines.next()
      const { status, sent, seconds } = value as FloodReport
      const name = `${request.line}, ${request.framing}`
      check(status < 500, () => `${name}: an endless body is answered ${status}`)
      check(status !== 200 || request.line.startsWith('GET'), () => `${name}: an endless body is accepted`)
      const text = `${status || 'closed'} after ${(sent / 2 ** 20).toFixed(1)} MiB and ${seconds.toFixed(1)} s`
      return [name, text] as const
    }),
  )
  return Object.fromEntries(reports)
}

/** How many files a process may open, at most as many as wanted, and the command that allows it. */
function raiseLimit(wanted: number): { readonly files: number; readonly by: readonly string[] } {
  const [, soft = '0', hard = '0'] =
    /^Max open files\s+(\d+)\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  const toCommand = (files: number) => ['prlimit', `--nofile=${files}:${Math.max(files, Number(hard))}`, '--']
  if (Bun.which('prlimit') === null) return { files: Number(soft), by: [] }
  const isAllowed = Bun.spawnSync([...toCommand(wanted), 'true']).success
  const files = isAllowed ? wanted : Number(hard)
  return { files, by: toCommand(files) }
}
