/**
 * A plain server that only speaks HTTP and parses JSON. It checks nothing and stores nothing. It is no upper limit: a handler that
 * reuses its headers, and answers many requests at once, is faster. See limit.ts.
 */

Bun.serve({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  development: false,
  async fetch(request) {
    if (request.method === 'POST') await request.json()
    return new Response('{"ok":true}', { headers: { 'Content-Type': 'application/json' } })
  },
})
