/** Tells systemd the state of the service, by the protocol of sd_notify(3). */

import { dlopen, ptr } from 'bun:ffi'
import type { SupervisorSettings } from '../config/supervisor.ts'

export interface Supervisor {
  /** The service listens. From now on, a watchdog gets a message while the event loop runs. */
  ready(): void
  /** The service stops. */
  stopping(): void
}

// From <sys/socket.h> of Linux; the same on x86-64 and arm64.
const AF_UNIX = 1
const SOCK_DGRAM_CLOEXEC = 2 | 0o2000000
const MSG_DONTWAIT_NOSIGNAL = 0x40 | 0x4000

/**
 * Opens the socket of systemd. Neither Bun nor Node has datagram sockets with a path, so this calls the C library.
 *
 * @throws when there is no C library of that name
 */
export function createSupervisor({ socket, watchdogMs }: SupervisorSettings): Supervisor {
  const { symbols } = dlopen('libc.so.6', {
    socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
    sendto: { args: ['i32', 'ptr', 'usize', 'i32', 'ptr', 'u32'], returns: 'i64' },
  })
  const descriptor = symbols.socket(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0)
  // A sockaddr_un: the family, then the path.
  const address = Buffer.concat([new Uint8Array(new Uint16Array([AF_UNIX]).buffer), Buffer.from(socket)])
  if (socket.startsWith('@')) address[2] = 0

  /** Never waits. A message that systemd does not take is lost. */
  function send(state: string): void {
    const message = Buffer.from(state)
    symbols.sendto(descriptor, ptr(message), message.length, MSG_DONTWAIT_NOSIGNAL, ptr(address), address.length)
  }

  return {
    ready() {
      send('READY=1')
      if (watchdogMs) setInterval(() => send('WATCHDOG=1'), watchdogMs / 2).unref()
    },
    stopping: () => send('STOPPING=1'),
  }
}
