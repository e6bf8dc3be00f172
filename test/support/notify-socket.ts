/** The socket of systemd: takes the messages of a service (sd_notify(3)). */

import { dlopen, ptr } from 'bun:ffi'

export interface NotifySocket {
  /** Returns the messages so far. */
  read(): readonly string[]
  close(): void
}

const AF_UNIX = 1
const SOCK_DGRAM_CLOEXEC = 2 | 0o2000000
const MSG_DONTWAIT = 0x40

/** Binds a socket to a path. A path that begins with `@` is in the abstract namespace. */
export function openNotifySocket(path: string): NotifySocket {
  const { symbols } = dlopen('libc.so.6', {
    socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
    bind: { args: ['i32', 'ptr', 'u32'], returns: 'i32' },
    recv: { args: ['i32', 'ptr', 'usize', 'i32'], returns: 'i64' },
    close: { args: ['i32'], returns: 'i32' },
  })
  const descriptor = symbols.socket(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0)
  const address = Buffer.from(`\x01\0${path.replace(/^@/, '\0')}`, 'latin1')
  if (symbols.bind(descriptor, ptr(address), address.length) !== 0) throw new Error(`cannot bind ${path}`)
  const messages: string[] = []
  const buffer = Buffer.alloc(4_096)
  return {
    read() {
      for (;;) {
        const length = Number(symbols.recv(descriptor, ptr(buffer), buffer.length, MSG_DONTWAIT))
        if (length < 0) return messages
        messages.push(buffer.toString('latin1', 0, length))
      }
    },
    close: () => void symbols.close(descriptor),
  }
}
