/** Preloaded into a service whose log level hides the port: prints the port. */

const serve = Bun.serve

Bun.serve = ((options: Parameters<typeof serve>[0]) => {
  const server = serve(options)
  process.stderr.write(`${JSON.stringify({ msg: 'listening on a port', port: server.port })}\n`)
  return server
}) as typeof serve
