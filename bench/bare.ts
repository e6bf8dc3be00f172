/** The limit: a server that does what HTTP asks and nothing else. It looks at nothing and keeps no address. */

import { readConfig } from '../src/config/config.ts'
import { createDocuments } from '../src/documents/site-documents.ts'
import { createDocumentHandler } from '../src/http/document-handler.ts'
import { createCommonHeaders } from '../src/http/responses.ts'
import type { BareAnswer } from './contenders.ts'

const [port, answer] = process.argv.slice(2) as [string, BareAnswer]
const baseUrl = `http://127.0.0.1:${port}`

async function toJsonHandler() {
  return async (request: Request) => {
    if (request.method === 'POST') await request.json()
    return new Response('{"ok":true}', { headers: { 'Content-Type': 'application/json' } })
  }
}

/** Asks once for a document, and gives that same answer to everybody. */
async function toStaticHandler(fields: Record<string, string>) {
  const documents = await createDocuments(readConfig({ BASE_URL: baseUrl }), [])
  const document = documents.find((candidate) => 'body' in candidate)
  if (!document) throw new Error('there is no document')
  const ask = await createDocumentHandler(document, createCommonHeaders(baseUrl))
  const { headers: found } = await ask(new Request(baseUrl))
  const unchanged = fields['If-None-Match'] === '' && { 'If-None-Match': found.get('etag') ?? '' }
  const response = await ask(new Request(baseUrl, { headers: { ...fields, ...unchanged } }))
  const { status, headers } = response
  const body = status === 304 ? null : await response.bytes()
  return () => new Response(body, { status, headers })
}

const HANDLERS = {
  json: toJsonHandler,
  document: () => toStaticHandler({}),
  gzip: () => toStaticHandler({ 'Accept-Encoding': 'gzip' }),
  unchanged: () => toStaticHandler({ 'If-None-Match': '' }),
} as const satisfies Record<BareAnswer, () => unknown>

const fetch = await HANDLERS[answer]()
Bun.serve({ port: Number(port), hostname: '127.0.0.1', development: false, fetch })
