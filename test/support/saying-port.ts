/** Loaded into a service before its own code, where its log is told to keep quiet: says which port it got. */

const serve = Bun.serve

Bun.serve = ((options: Parameters<typeof serve>[0]) => {
  const server = serve(options)
  process.stderr.write(`${JSON.stringify({ msg: 'listening on a port', port: server.port })}\n`)
  return server
}) as typeof serve
