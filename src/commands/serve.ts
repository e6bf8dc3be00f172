import { readConfig } from '../config/config.ts'
import { EXIT } from '../failure.ts'
import { createLog, type Log } from '../log.ts'
import { type CutOff, startService } from '../service.ts'
import { announce } from './announcement.ts'

/** `rollcall serve`: runs until SIGTERM or SIGINT. */
export async function serve(): Promise<void> {
  const config = readConfig()
  const log = createLog(config.logLevel)
  const signalled = waitForSignal(log)
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled promise rejection'))
  const service = await startService(config, log)
  announce(service, config, log)
  const signalledAt = await signalled
  const cutOff = await service.stop(signalledAt)
  if (cutOff) log.error(cutOff, toMessage(cutOff))
  else log.info('stopped')
  process.exit(cutOff ? EXIT.failed : EXIT.done)
}

/** Signals within this many milliseconds count as one: npm passes on a signal that its process group got as well. */
const SAME_SIGNAL_MS = 50

/**
 * Waits for the first signal to stop. A second one ends the process at once.
 *
 * @returns when the signal came, by `performance.now()`
 */
function waitForSignal(log: Log): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  let signalledAt: number | undefined
  function onSignal(signal: NodeJS.Signals): void {
    const now = performance.now()
    if (signalledAt !== undefined && now - signalledAt > SAME_SIGNAL_MS) process.exit(EXIT.failed)
    if (signalledAt !== undefined) return
    signalledAt = now
    log.info({ signal }, 'stopping: the service answers every request that has begun')
    resolve(now)
  }
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
  return promise
}

function toMessage({ requests, addresses }: CutOff): string {
  return `stopped by force: requests without a complete response: ${requests}, addresses not confirmed: ${addresses}`
}
