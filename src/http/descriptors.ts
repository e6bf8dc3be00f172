/**
 * File descriptors of the process. Each connection takes one. Without any, the runtime accepts no connection on any port,
 * and uses a whole CPU, because it tries again at once (https://github.com/oven-sh/bun/pull/32705).
 */

import { closeSync, openSync, readFileSync } from 'node:fs'
import { devNull } from 'node:os'
import { toErrorCode } from '../failure.ts'
import { MIN_DESCRIPTORS } from '../limits.ts'
import type { Log } from '../log.ts'

/** How often the watch looks, in milliseconds. A look takes 0.05 ms. */
const LOOK_MS = 250

/** Descriptors that connections must leave free, for the operations listener and the store; fewer if the limit is low. */
const RESERVED = 32

/** Milliseconds between log lines. */
const LOG_MS = 60_000

/** Returns how many descriptors the process may have; undefined without /proc. The runtime has raised it as far as it may. */
function readLimit(): number | undefined {
  try {
    const limit = Number(/^Max open files +([0-9]+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
    return Number.isNaN(limit) ? undefined : limit
  } catch {
    return undefined
  }
}

/** Logs a warning when the process may have few descriptors. */
export function warnOfLimit(log: Log): void {
  const problem = describeLowLimit()
  if (problem) log.warn({ limit: problem.limit }, problem.text)
}

/** Says in one line that the process may have few descriptors; undefined when it may have enough. */
export function describeLowLimit(): { readonly limit: number; readonly text: string } | undefined {
  const limit = readLimit()
  if (limit === undefined || limit >= MIN_DESCRIPTORS) return undefined
  const fix = `allow at least ${MIN_DESCRIPTORS}, with LimitNOFILE in the systemd unit or with ulimit -n`
  return { limit, text: `the limit of ${limit} open files is low, because each connection takes one; ${fix}` }
}

/**
 * Looks again and again whether descriptors are short, and calls a function that frees some. Logs it once a minute at most.
 *
 * @param free closes connections; it is not called again before it has resolved
 * @returns a function that ends the watch, and resolves when `free` has ended
 */
export function watchDescriptors(free: () => Promise<void>, log: Log): () => Promise<void> {
  const limit = readLimit() ?? Number.POSITIVE_INFINITY
  const most = limit - Math.min(RESERVED, limit / 8)
  let freeing: Promise<void> | undefined
  let loggedAt = Number.NEGATIVE_INFINITY

  // A new descriptor is the lowest that is free (POSIX, open), so all below it are in use.
  function isShort(): boolean {
    try {
      const descriptor = openSync(devNull, 'r')
      closeSync(descriptor)
      return descriptor >= most
    } catch (error) {
      return toErrorCode(error) === 'EMFILE'
    }
  }

  function look(): void {
    if (freeing || !isShort()) return
    if (performance.now() > loggedAt + LOG_MS) {
      loggedAt = performance.now()
      log.warn({ limit }, 'file descriptors are short: connections are closed')
    }
    freeing = free().finally(() => {
      freeing = undefined
    })
  }

  const timer = setInterval(look, LOOK_MS)
  return async () => {
    clearInterval(timer)
    await freeing
  }
}
