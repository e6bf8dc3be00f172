import type { Command } from 'commander'
import { readConfig } from '../config/config.ts'
import { createLog, type Log } from '../log.ts'
import { startService } from '../service.ts'
import { createCommand } from './list-command.ts'

/** A stop that takes longer than this many milliseconds is ended by force. */
const STOP_DEADLINE_MS = 9_500

/** `rollcall serve`: runs until SIGTERM or SIGINT. */
export function createServeCommand(): Command {
  return createCommand(
    'serve',
    'Start the service',
    'BASE_URL=https://news.example.org rollcall serve',
  ).action(async () => {
    const config = readConfig()
    const log = createLog(config.logLevel)
    const stopAsked = waitForSignal(log)
    process.on('unhandledRejection', (error) => log.error({ err: error }, 'something failed unseen'))
    const service = await startService(config, log)
    await stopAsked
    await Promise.race([service.stop(), Bun.sleep(STOP_DEADLINE_MS)])
    log.info('stopped')
    process.exit(0)
  })
}

/** Signals that come this close together, in milliseconds, are one: npm passes on what its group was sent as well. */
const SAME_SIGNAL_MS = 50

/** Resolves at the first signal to stop; a second one ends the process at once. */
function waitForSignal(log: Log): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let askedAt: number | undefined
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (askedAt !== undefined) {
        if (performance.now() - askedAt > SAME_SIGNAL_MS) process.exit(1)
        return
      }
      askedAt = performance.now()
      log.info({ signal }, 'stopping: every request that has begun is answered first')
      resolve()
    })
  }
  return promise
}
