/** The upper limit: a server that only speaks HTTP and parses JSON. It checks nothing and stores nothing. */

Bun.serve({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  development: false,
  async fetch(request) {
    if (request.method === 'POST') await request.json()
    return new Response('{"ok":true}', { headers: { 'Content-Type': 'application/json' } })
  },
})
