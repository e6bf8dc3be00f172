/** More connections than the service has file descriptors for. It warns, does not spin, and recovers. */

import { check, waitFor } from '../check.ts'
import { startClient } from '../clients/client.ts'
import type { HoldOptions } from '../clients/hold.ts'
import { connect, toSubscribeRequest } from '../connection.ts'
import { withFiles } from '../limits.ts'
import type { Service } from '../rollcall.ts'
import { readCpu } from '../usage.ts'
import type { Attack } from './attack.ts'

/** File descriptors of the service, the connections that use them up, and the share of a CPU that this may cost. */
const FILES = 256
const IDLE = 600
const MOST_CPU = 0.3

/** Seconds for which the connections are held. */
const HOLD_S = 5

const RECOVERY_MS = 10_000

const WARNING_LEVEL = 40

export const descriptors: Attack = {
  name: 'too many connections',
  async run({ createList }) {
    const service = await (await createList()).serve({ by: withFiles(FILES) })
    const share = await useUp(service)
    await waitFor('the service answers again after too many connections', () => isServed(service), RECOVERY_MS)
    const isReady = async () => (await service.opsStatus('/readyz')) === 200
    await waitFor('/readyz says 200 after too many connections', isReady, RECOVERY_MS)
    const percent = (share * 100).toFixed(0)
    check(share <= MOST_CPU, () => `the service uses ${percent} % of a CPU while it has no file descriptors left`)
    const isWarning = (line: string) => line.startsWith(`{"level":${WARNING_LEVEL}`) && /file|descriptor/i.test(line)
    const hasWarned = service.log().split('\n').some(isWarning)
    check(hasWarned, () => `no warning at the start says that ${FILES} file descriptors are few`)
    await service.stop()
    return { 'CPU without file descriptors, %': percent }
  },
}

/** Opens the connections. Returns the share of a CPU that the service asks for meanwhile. */
async function useUp({ port, process }: Service): Promise<number> {
  const options: HoldOptions = { port, connections: IDLE, seconds: HOLD_S, kind: 'silent' }
  const { lines, ended } = startClient('hold', options)
  // The first line comes when the connections are open, the last one before they are closed.
  await lines.next()
  const [before, start] = [readCpu(process.pid).wanted, performance.now()]
  await lines.next()
  const share = (readCpu(process.pid).wanted - before) / (performance.now() - start)
  await ended
  return share
}

async function isServed({ port }: Service): Promise<boolean> {
  const connection = await connect(port).catch(() => undefined)
  const timer = setTimeout(() => connection?.close(), 2_000)
  const reply = await connection?.request(toSubscribeRequest('files@example.org'))
  clearTimeout(timer)
  connection?.close()
  return reply?.status === 200
}
