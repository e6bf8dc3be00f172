/**
 * The limit of a server that stores what it accepts: a handler that reuses its headers, one hop to a thread, and one sync for all
 * requests that came meanwhile. It checks nothing, and what it writes is no list.
 */

import { closeSync, fdatasyncSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/** The file is written again from its start: a file that grows needs a write of the journal of the file system for each sync. */
const FILE = 'limit.dat'
const FILE_BYTES = 4 * 1024 * 1024

declare const self: Worker

if (isMainThread) serve()
else write()

function serve(): void {
  const body = '{"ok":true}'
  const init = { headers: { 'Content-Type': 'application/json' } }
  const thread = new Worker(import.meta.url)
  let waiting: { readonly email: string; readonly resolve: (response: Response) => void }[] = []
  let written: typeof waiting = []

  function send(): void {
    if (written.length > 0 || waiting.length === 0) return
    written = waiting
    waiting = []
    thread.postMessage(JSON.stringify(written.map(({ email }) => email)))
  }

  thread.onmessage = () => {
    for (const { resolve } of written) resolve(new Response(body, init))
    written = []
    // What has arrived meanwhile is read first, and goes along.
    setImmediate(send)
  }

  Bun.serve({
    port: Number(process.env.PORT),
    hostname: '127.0.0.1',
    development: false,
    async fetch(request) {
      if (request.method !== 'POST') return new Response(body, init)
      const { email } = (await request.json()) as { email: string }
      return await new Promise<Response>((resolve) => {
        waiting.push({ email, resolve })
        if (waiting.length === 1) setImmediate(send)
      })
    },
  })
}

function write(): void {
  const file = openSync(FILE, 'w', 0o600)
  process.once('exit', () => closeSync(file))
  writeSync(file, Buffer.alloc(FILE_BYTES), 0, FILE_BYTES, 0)
  fsyncSync(file)
  let offset = 0
  self.onmessage = ({ data }: MessageEvent<string>) => {
    const bytes = Buffer.from(data)
    if (offset + bytes.length > FILE_BYTES) offset = 0
    offset += writeSync(file, bytes, 0, bytes.length, offset)
    fdatasyncSync(file)
    self.postMessage('')
  }
}
