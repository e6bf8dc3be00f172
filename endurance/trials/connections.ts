/** Many idle connections, slow requests and endless bodies: other callers are served, and memory stays bounded. */

import { check, checkDuring } from '../check.ts'
import { startClient } from '../clients/client.ts'
import type { FloodOptions, FloodReport } from '../clients/flood.ts'
import type { HoldOptions, HoldReport } from '../clients/hold.ts'
import { findMissingFiles, withManyFiles } from '../limits.ts'
import { type Exchange, startLoad } from '../load.ts'
import { ENDPOINT, type Service } from '../rollcall.ts'
import { checkKept } from '../rows.ts'
import { quantile } from '../statistics.ts'
import type { Figures, Trial } from '../trial.ts'
import { readMemory } from '../usage.ts'

const CONNECTIONS = 10_000

/** Milliseconds in which other callers are served. */
const MOST_MS = 5_000
const MOST_P99_MS = 1_000

/** Resident memory of the service in MiB, at most, at any time. */
const MOST_MEMORY = 400

/** Seconds for which connections are held: longer than the deadline of a body, shorter than the idle timeout. */
const HOLD_S = 15

/** File descriptors of a process: one for each connection, and some for itself. */
const FILES = CONNECTIONS + 200

export const connections: Trial = {
  name: 'connections',
  promise:
    '10,000 idle connections, 2,000 slow heads and bodies, 1 GB bodies: other callers are served, memory is bounded',
  minutes: { sqlite: 1 },
  findMissing: () => findMissingFiles(FILES),
  async run({ createList, amount }) {
    const list = await createList()
    const service = await list.serve({ by: withManyFiles(FILES) })
    const others = watchOthers(service)
    // A longer run has no more connections: the open files of a process are limited.
    const many = Math.min(amount(CONNECTIONS, 500), CONNECTIONS)
    const slow = Math.min(amount(2_000, 200), CONNECTIONS / 5)
    const bytes = amount(2 ** 30, 2 ** 26)
    await others.during('idle connections', () => holdIdle(service.port, many))
    await others.during('slow heads and bodies', () => holdSlow(service.port, slow))
    const floods = await others.during('endless bodies', () => flood(service.port, bytes))
    await others.stop()
    await service.stop()
    await checkKept(list, others.listAddresses())
    return {
      figures: {
        'idle connections': many,
        'slow heads': slow,
        'slow bodies': slow,
        'GiB in a body': bytes / 2 ** 30,
        'most memory, MiB': others.mostMemory(),
      },
      details: { ...others.figures(), ...floods },
    }
  },
}

/** Callers that subscribe all the time, and what they and the memory of the service show. */
function watchOthers(service: Service) {
  const exchanges: Exchange[] = []
  const sent = new Set<string>()
  const figures: Record<string, string> = {}
  let mostMemory = 0
  const load = startLoad(() => service.port, {
    callers: 4,
    pauseMs: 5,
    nextEmail() {
      const email = `other${sent.size}@example.org`
      sent.add(email)
      return email
    },
    onReply: (exchange) => exchanges.push(exchange),
  })

  function inspect(name: string, seen: readonly Exchange[]): void {
    const times = seen.map(({ startedAt, endedAt }) => endedAt - startedAt)
    const [p99, most] = [quantile(times, 0.99), quantile(times, 1)]
    const failed = seen.find(({ status }) => status !== 200)
    mostMemory = readMemory(service.process.pid).peak
    check(seen.length > 0, () => 'no other caller is served')
    check(!failed, () => `another caller is answered ${failed?.status ?? 'not at all'}`)
    const waits = `p99 ${p99.toFixed(1)} ms, slowest ${most.toFixed(0)} ms`
    check(p99 <= MOST_P99_MS && most <= MOST_MS, () => `others wait too long: ${waits}`)
    check(mostMemory <= MOST_MEMORY, () => `the service takes ${mostMemory.toFixed(0)} MiB, more than ${MOST_MEMORY}`)
    figures[`other callers meanwhile: ${name}`] = `${seen.length} requests, ${waits}`
  }

  async function during<Value>(name: string, work: () => Promise<Value>): Promise<Value> {
    const from = performance.now()
    return await checkDuring(name, async () => {
      const value = await work()
      inspect(
        name,
        exchanges.filter(({ endedAt }) => endedAt > from),
      )
      return value
    })
  }

  return {
    during,
    stop: () => load.stop(),
    figures: (): Figures => figures,
    mostMemory: () => mostMemory,
    listAddresses: () => ({
      sent,
      acknowledged: exchanges.filter(({ status }) => status === 200).map(({ email }) => email),
    }),
  }
}

/** Runs the client that holds connections. Returns what it saw at the end. */
async function hold(port: number, connections: number, kind: HoldOptions['kind']): Promise<HoldReport> {
  const options: HoldOptions = { port, connections, seconds: HOLD_S, kind }
  const { lines, ended } = startClient('hold', options, withManyFiles(FILES))
  let report: HoldReport = { opened: 0, closed: 0, statuses: {} }
  for await (const line of lines) report = line as HoldReport
  await ended
  check(report.opened === connections, () => `${report.opened} of ${connections} connections are opened`)
  return report
}

async function holdIdle(port: number, many: number): Promise<void> {
  const { closed, statuses } = await hold(port, many, 'idle')
  check(statuses['200'] === many, () => `${many} requests of idle connections are answered ${JSON.stringify(statuses)}`)
  check(closed === 0, () => `${closed} of ${many} idle connections are closed within ${HOLD_S} s`)
}

async function holdSlow(port: number, slow: number): Promise<void> {
  const [, bodies] = await Promise.all([hold(port, slow, 'slow heads'), hold(port, slow, 'slow bodies')])
  check(bodies.statuses['408'] === slow, () => `${slow} slow bodies are answered ${JSON.stringify(bodies.statuses)}`)
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
      const name = `an endless body, ${request.line}, ${request.framing}`
      check(status < 500, () => `${name}: it is answered ${status}`)
      check(status !== 200 || request.line.startsWith('GET'), () => `${name}: it is accepted`)
      const text = `${status || 'closed'} after ${(sent / 2 ** 20).toFixed(1)} MiB and ${seconds.toFixed(1)} s`
      return [name, text] as const
    }),
  )
  return Object.fromEntries(reports)
}
