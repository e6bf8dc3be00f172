import type { Environment } from './environment.ts'

/** What systemd tells a service with `Type=notify`. */
export interface SupervisorSettings {
  /** The path of the socket that takes messages. A path that begins with `@` is in the abstract namespace. */
  readonly socket: string
  /** Milliseconds after which a service that sends nothing is killed. */
  readonly watchdogMs: number | undefined
}

/** Reads NOTIFY_SOCKET and WATCHDOG_USEC (sd_notify(3), sd_watchdog_enabled(3)). */
export function readSupervisor(environment: Environment): SupervisorSettings | undefined {
  const socket = environment.NOTIFY_SOCKET ?? ''
  if (!/^[/@]./.test(socket)) return undefined
  const watchdogMs = Number(environment.WATCHDOG_USEC) / 1000
  return Object.freeze({ socket, watchdogMs: watchdogMs > 0 ? watchdogMs : undefined })
}
