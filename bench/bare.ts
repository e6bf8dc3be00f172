/** The limit: a server that does what HTTP asks and nothing else. It keeps no address. */

import { gzipSync } from 'node:zlib'
import { readConfig } from '../src/config.ts'
import { createDocuments } from '../src/site/documents.ts'

const [port, answer] = process.argv.slice(2)

const document = Buffer.from(
  createDocuments(readConfig({ BASE_URL: `http://127.0.0.1:${port}` }))[0]?.body ?? '',
)
const compressed = gzipSync(document, { level: 9 })
const type = 'application/json'

const ANSWERS: Record<string, (request: Request) => Response | Promise<Response>> = {
  async json(request) {
    if (request.method === 'POST') await request.json()
    return new Response('{"ok":true}', { headers: { 'Content-Type': type } })
  },
  document: () => new Response(document, { headers: { 'Content-Type': type } }),
  gzip: () => new Response(compressed, { headers: { 'Content-Type': type, 'Content-Encoding': 'gzip' } }),
  unchanged: () => new Response(null, { status: 304 }),
}

const fetch = ANSWERS[answer ?? '']
if (!fetch) throw new Error(`"${answer}" is no answer: use one of ${Object.keys(ANSWERS).join(', ')}`)
Bun.serve({ port: Number(port), hostname: '127.0.0.1', development: false, fetch })
