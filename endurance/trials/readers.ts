/** Commands that read finish in a bounded time, however many requests the service takes meanwhile. */

import { join } from 'node:path'
import { startClient } from '../clients/client.ts'
import type { PumpOptions, PumpWindow } from '../clients/pump.ts'
import { startService, startVerb } from '../rollcall.ts'
import { check, type Figures, type Trial } from '../trial.ts'

/** Seconds in which a command must finish under full load, on a busy machine as well. */
const MOST_S = 60

/** Seconds of load before the first command, so that there is an inbox to move. */
const BEFORE_S = 5

export const readers: Trial = {
  name: 'readers',
  promise: 'count, export, status and backup finish within a minute under full load',
  stores: ['sqlite', 'postgres'],
  minutes: 4,
  async run({ store, folder, createList, scale, progress }) {
    const list = await createList()
    const service = await startService(list, { folder })
    const options: PumpOptions = {
      port: service.port,
      connections: 64,
      seconds: BEFORE_S + 5 * MOST_S,
      windowSeconds: 1,
      newShare: 1,
    }
    const client = startClient('pump', options)
    let requests = 0
    let failed = 0
    const reading = (async () => {
      for await (const line of client.lines) {
        requests += (line as PumpWindow).requests
        failed = (line as PumpWindow).failed
      }
    })()
    await Bun.sleep(Math.max(BEFORE_S, 60 * scale) * 1000)

    const verbs = [
      ['count'],
      ['status'],
      ['export', '--limit', '1000', '--include-reserved'],
      ...(store === 'sqlite' ? [['backup', join(folder, 'backup.db')]] : []),
    ]
    const times: Record<string, Figures[string]> = {}
    for (const args of verbs) {
      const start = performance.now()
      const verb = startVerb(args, list, { folder })
      const timer = setTimeout(() => verb.process.kill('SIGKILL'), MOST_S * 1000)
      const { code, stderr } = await verb.ended
      clearTimeout(timer)
      const seconds = (performance.now() - start) / 1000
      check(verb.process.signalCode === null, () => `${args[0]} does not finish within ${MOST_S} s of full load`)
      check(code === 0, () => `${args[0]} fails under full load: ${stderr.trim()}`)
      times[`${args[0]}, s`] = seconds
      progress(`${args[0]}: ${seconds.toFixed(1)} s`)
    }
    client.stop()
    await reading
    await service.stop()
    check(failed === 0, () => `${failed} requests are not answered 200 meanwhile`)
    return { ...times, 'requests meanwhile': requests }
  },
}
