/** The upper limit: a server that only speaks HTTP. It checks nothing and stores nothing. */

import { readConfig } from '../src/config/config.ts'
import { createDescription } from '../src/documents/openapi/description.ts'
import { createDocumentHandler } from '../src/http/document-handler.ts'
import { createCommonHeaders } from '../src/http/responses.ts'
import { DOCUMENTS } from '../src/routes.ts'
import type { BareAnswer } from './contenders.ts'

const [port = '', answer = ''] = process.argv.slice(2)
const baseUrl = `http://127.0.0.1:${port}`

function createJsonHandler() {
  return async (request: Request) => {
    if (request.method === 'POST') await request.json()
    return new Response('{"ok":true}', { headers: { 'Content-Type': 'application/json' } })
  }
}

/** Requests the description once, and sends a copy of that response every time. */
async function createStaticHandler(fields: Record<string, string>) {
  const description = createDescription(readConfig({ BASE_URL: baseUrl }))
  const document = { ...DOCUMENTS.openApiJson, body: JSON.stringify(description) }
  const handler = createDocumentHandler(document, createCommonHeaders(baseUrl))
  const etag = (await handler(new Request(baseUrl))).headers.get('etag') ?? ''
  const condition = fields['If-None-Match'] === '' && { 'If-None-Match': etag }
  const response = await handler(new Request(baseUrl, { headers: { ...fields, ...condition } }))
  const { status, headers } = response
  const body = status === 304 ? null : await response.bytes()
  return () => new Response(body, { status, headers })
}

type Handler = (request: Request) => Response | Promise<Response>
type CreateHandler = () => Handler | Promise<Handler>

const HANDLERS: Readonly<Record<BareAnswer, CreateHandler>> = {
  json: createJsonHandler,
  document: () => createStaticHandler({}),
  gzip: () => createStaticHandler({ 'Accept-Encoding': 'gzip' }),
  unchanged: () => createStaticHandler({ 'If-None-Match': '' }),
}

const createHandler = new Map<string, CreateHandler>(Object.entries(HANDLERS)).get(answer)
if (!createHandler) throw new Error(`there is no response "${answer}"`)
const fetch = await createHandler()
Bun.serve({ port: Number(port), hostname: '127.0.0.1', development: false, fetch })
