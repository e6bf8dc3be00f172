/** What one stranger can do with few requests: cost CPU, fill caches, use up file descriptors. */

import { COSTLY_REQUESTS, type CostlyRequest, toBytes, toPlainBytes } from '../attacks/costly-requests.ts'
import { startClient } from '../clients/client.ts'
import { type Connection, connect, toSubscribeRequest } from '../connection.ts'
import { type Service, startService } from '../rollcall.ts'
import { median } from '../statistics.ts'
import { check, type Figures, type Trial, type TrialContext, waitFor } from '../trial.ts'
import { readCpu, readMemory } from '../usage.ts'

/** A request costs at most this many times the CPU of a valid request of its size. */
const MOST_RATIO = 10

/** Each sample is so many requests, or as many as fit into this time. */
const REQUESTS = 40
const SAMPLE_MS = 500

/** Long values of a field for each variant of a document, and the MiB by which memory may grow with them. */
const VALUES = 64
const MOST_GROWTH = 64

/** File descriptors of a service with few of them, the connections that use them up, and the share of a CPU that this may cost. */
const FILES = 256
const IDLE = 600
const MOST_CPU = 0.3

export const attacks: Trial = {
  name: 'attacks',
  promise:
    'no request costs more than ten times a valid one of its size; caches stay small; too many connections do no lasting harm',
  stores: ['sqlite'],
  minutes: 3,
  findMissing: () =>
    Bun.which('prlimit')
      ? undefined
      : 'prlimit is missing: install util-linux, such as with apt-get install util-linux',
  async run(context) {
    const { folder, createList, amount, progress } = context
    const service = await startService(await createList(), { folder })
    const costs = await measureCosts(service, amount(9, 3), progress)
    const growth = await fillCaches(service, VALUES)
    await service.stop()
    return { ...costs, ...growth, ...(await useUpFiles(context)) }
  },
}

/** Compares every costly request with a plain one, in turn. */
async function measureCosts(service: Service, rounds: number, progress: (line: string) => void): Promise<Figures> {
  const connection = await connect(service.port)
  const ratios: { readonly name: string; readonly ratio: number }[] = []
  for (const request of COSTLY_REQUESTS) {
    const ratio = await measureRatio(service, connection, request, rounds)
    ratios.push({ name: request.name, ratio })
    if (ratio > MOST_RATIO / 2) progress(`${request.name}: ${ratio.toFixed(1)} times a plain request`)
  }
  connection.close()
  const [worst = { name: '', ratio: 0 }] = ratios.sort((one, other) => other.ratio - one.ratio)
  const tooCostly = ratios.filter(({ ratio }) => ratio > MOST_RATIO)
  check(tooCostly.length === 0, () =>
    tooCostly.map(({ name, ratio }) => `${name}: ${ratio.toFixed(0)} times a plain request`).join('; '),
  )
  return {
    'costly requests': ratios.length,
    'CPU of the worst, of a plain request': `${worst.ratio.toFixed(1)} (${worst.name})`,
  }
}

async function measureRatio(
  service: Service,
  connection: Connection,
  request: CostlyRequest,
  rounds: number,
): Promise<number> {
  const [costly, plain] = [toBytes(request), toPlainBytes(request)]
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) {
    const base = await measureCpu(service, connection, plain)
    ratios.push((await measureCpu(service, connection, costly)) / base)
  }
  return median(ratios)
}

/** The CPU milliseconds of a request. */
async function measureCpu(service: Service, connection: Connection, bytes: string): Promise<number> {
  const data = Buffer.from(bytes, 'latin1')
  const [before, start] = [readCpu(service.process.pid), performance.now()]
  let requests = 0
  while (requests < REQUESTS && performance.now() - start < SAMPLE_MS) {
    requests++
    const reply = await connection.request(data)
    check(
      reply !== undefined && reply.status < 500,
      () => `${bytes.slice(0, 100)} … is answered ${reply?.status ?? 'not at all'}`,
    )
  }
  return (readCpu(service.process.pid) - before) / requests
}

/** Sends long values to everything that may be cached by them. The same load without a field that is read comes before. */
async function fillCaches(service: Service, values: number): Promise<Figures> {
  const connection = await connect(service.port)

  async function fill(field: string): Promise<number> {
    for (const { path, language } of VARIANTS) {
      for (let index = 0; index < values; index++) {
        const fields = `Accept-Language: ${language}\r\n${field}: ${`${index}`.padEnd(15_000, 'a')}`
        await connection.request(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${fields}\r\n\r\n`, 'GET')
      }
    }
    return readMemory(service.process.pid).now
  }

  const before = await fill('X-Plain')
  let after = before
  for (const field of ['Accept-Encoding', 'Accept', 'If-None-Match']) after = await fill(field)
  connection.close()
  const growth = after - before
  const sent = VARIANTS.length * values
  check(growth <= MOST_GROWTH, () => `memory grows by ${growth.toFixed(0)} MiB with ${sent} long values of each field`)
  return { 'memory growth with long values of fields, MiB': growth }
}

/** A page suggests the language of its reader, so each page has a variant for each language. */
const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt-br', 'it', 'nl', 'pl', 'uk', 'ar', 'ja', 'zh-hans']
const VARIANTS = [
  ...['/openapi.json', '/openapi.yaml', '/llms.txt', '/sitemap.xml', '/robots.txt'].map((path) => ({
    path,
    language: 'en',
  })),
  ...LANGUAGES.slice(1).flatMap((page) => LANGUAGES.map((language) => ({ path: `/${page}`, language }))),
]

/** Opens more connections than the service has file descriptors for. It must not spin, and must recover. */
async function useUpFiles({ folder, createList }: TrialContext): Promise<Figures> {
  const by = ['prlimit', `--nofile=${FILES}:${FILES}`, '--']
  const service = await startService(await createList(), { folder, by })
  const seconds = 5
  const { lines, ended } = startClient('hold', {
    port: service.port,
    connections: IDLE,
    seconds,
    kind: 'idle',
  })
  await lines.next()
  const before = readCpu(service.process.pid)
  await Bun.sleep(seconds * 1000 - 1000)
  const share = (readCpu(service.process.pid) - before) / (seconds * 1000 - 1000)
  for await (const _ of lines) {
    // The last line comes when the connections are closed.
  }
  await ended
  const isServed = async () => {
    const connection = await connect(service.port).catch(() => undefined)
    const timer = setTimeout(() => connection?.close(), 2_000)
    const reply = await connection?.request(toSubscribeRequest('files@example.org'))
    clearTimeout(timer)
    connection?.close()
    return reply?.status === 200
  }
  await waitFor('the service answers again after too many connections', isServed, 10_000)
  check(
    share <= MOST_CPU,
    () => `the service uses ${(share * 100).toFixed(0)} % of a CPU while it has no file descriptors left`,
  )
  const warning = service
    .log()
    .split('\n')
    .some((line) => line.startsWith('{"level":40') && /file|descriptor/i.test(line))
  check(warning, () => `no warning at the start says that ${FILES} file descriptors are few`)
  await service.stop()
  return { 'CPU share without file descriptors': share.toFixed(2) }
}
