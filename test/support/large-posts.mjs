/**
 * Posts large bodies with `fetch` and with `node:http`, with a Content-Length and in chunks: `ORIGIN SIZE...`. Runs on
 * Node and on Bun. Prints a line of JSON for each response: what was sent, the status and the body.
 */

import { request } from 'node:http'

const [origin, ...sizes] = process.argv.slice(2)
const url = `${origin}/api/newsletter`
const headers = { 'Content-Type': 'application/json' }

/** @returns {Promise<{ status: number, text: string }>} */
function post(body, fields) {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', headers: { ...headers, ...fields } }, async (incoming) => {
      const parts = []
      for await (const part of incoming) parts.push(part)
      resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(parts).toString() })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

async function postByFetch(body, options) {
  const response = await fetch(url, { method: 'POST', headers, body, ...options })
  return { status: response.status, text: await response.text() }
}

const CLIENTS = {
  'fetch with a length': (body) => postByFetch(body, {}),
  'fetch in chunks': (body) => postByFetch(new Blob([body]).stream(), { duplex: 'half' }),
  'http with a length': (body) => post(body, { 'Content-Length': body.length }),
  'http in chunks': (body) => post(body, { 'Transfer-Encoding': 'chunked' }),
  'http with a length and a close': (body) => post(body, { 'Content-Length': body.length, Connection: 'close' }),
}

for (const size of sizes.map(Number)) {
  const body = Buffer.alloc(size, 'x')
  for (const [client, send] of Object.entries(CLIENTS)) {
    const { status, text } = await send(body).catch((error) => ({ status: 0, text: String(error.cause ?? error) }))
    console.log(JSON.stringify({ client, size, status, text }))
  }
}
