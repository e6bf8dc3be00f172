/** The upper limit: a server that only speaks HTTP. It checks nothing and stores nothing. */

import { join } from 'node:path'

const document = await Bun.file(join(import.meta.dir, '../docs/openapi.json')).bytes()

Bun.serve({
  port: Number(process.argv[2]),
  hostname: '127.0.0.1',
  development: false,
  async fetch(request) {
    if (request.method !== 'POST') return new Response(document, { headers: { 'Content-Type': 'application/json' } })
    await request.json()
    return new Response('{"ok":true}', { headers: { 'Content-Type': 'application/json' } })
  },
})
