import { type Config, readConfig } from '../config/config.ts'
import { toListName } from '../config/list-url.ts'
import { createCurlCall } from '../documents/terms.ts'
import { EXIT } from '../failure.ts'
import { createLog, type Log } from '../log.ts'
import { type Service, startService } from '../service.ts'
import { VERSION } from '../version.ts'
import { listStopSignals, SAME_SIGNAL_MS } from './shared.ts'

/** `rollcall serve`: runs until SIGTERM, SIGINT or SIGHUP, or until a newer program has migrated the list. */
export async function serve(): Promise<void> {
  const config = readConfig()
  const log = createLog(config.logLevel)
  const signaled = waitForSignal(log)
  logDefects(log)
  const service = await startService(config, log)
  announce(service, config, log)
  let isOutdated = false
  const outdatedAt = service.outdated.then((reason) => {
    log.error(`this service ends, and its supervisor starts the newer Rollcall that has migrated the list: ${reason}`)
    isOutdated = true
    return performance.now()
  })
  const cutOff = await service.stop(await Promise.race([signaled, outdatedAt]))
  if (cutOff) {
    const { requests, addresses } = cutOff
    const text = `stopped by force: requests without a complete response: ${requests}, addresses not confirmed: ${addresses}`
    log.error(cutOff, text)
  } else {
    log.info('stopped')
  }
  process.exit(cutOff || isOutdated ? EXIT.failed : EXIT.done)
}

/** Logs where a defect is, which a command only says when it is asked. After a rejection, the service goes on. */
function logDefects(log: Log): void {
  const message = 'an error of Rollcall itself'
  process.removeAllListeners('unhandledRejection').removeAllListeners('uncaughtException')
  process.on('unhandledRejection', (error) => log.error({ err: error }, message))
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, message)
    process.exit(EXIT.failed)
  })
}

/** Says what the service serves, and to a person also how to try it. */
function announce({ port, opsPort }: Service, { host, baseUrl, list, siteFile }: Config, log: Log): void {
  const name = toListName(list)
  const fields = { version: VERSION, port, baseUrl, list: name, siteFile: siteFile?.path, opsPort }
  const site = siteFile ? `the site file ${siteFile.path}` : 'no site file'
  const where = `listening on ${host} port ${port} for ${baseUrl}, with Rollcall ${VERSION}, the list ${name} and ${site}`
  log.info(fields, where)
  if (process.stderr.isTTY) log.info(`try it: ${createCurlCall(baseUrl).replace(/ \\\n */g, ' ')}`)
}

/** Waits for the first signal to stop, and returns its `performance.now()`. A second one ends the process at once. */
function waitForSignal(log: Log): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  let signaledAt: number | undefined
  function onSignal(signal: NodeJS.Signals): void {
    const now = performance.now()
    if (signaledAt === undefined) {
      log.info({ signal }, 'stopping: the service answers every request that has begun')
      signaledAt = now
      resolve(now)
    } else if (now - signaledAt > SAME_SIGNAL_MS) {
      process.exit(EXIT.failed)
    }
  }
  for (const name of listStopSignals()) process.on(name, onSignal)
  return promise
}
