/** The service, put together from its parts: what is in the house, and in which order it is opened and closed. */

import type { Config } from './config/config.ts'
import { createLinkField } from './documents/links.ts'
import { createDocuments } from './documents/site-documents.ts'
import { createApp } from './http/app.ts'
import { createBodyReader } from './http/body.ts'
import { createCors } from './http/cors.ts'
import { createDailyHandler } from './http/daily-handler.ts'
import { createDocumentHandler } from './http/document-handler.ts'
import { createOps } from './http/ops.ts'
import { createPages } from './http/pages.ts'
import { createCommonHeaders } from './http/responses.ts'
import { listen } from './http/server.ts'
import { createSubscribe } from './http/subscribe.ts'
import { createIntake } from './intake/intake.ts'
import { BODY_DEADLINE_MS, MAX_BODY_BYTES, STORE_DEADLINE_MS } from './limits.ts'
import type { Log } from './log.ts'
import { createPageAssets } from './page/assets.ts'
import { listPages } from './page/page-list.ts'
import { CACHE_CONTROL, DOCUMENTS } from './routes.ts'
import { openServiceStore, toListName } from './store/open.ts'

export interface Service {
  /** Answers every request that has begun, then closes the store. At most 10 s. */
  stop(): Promise<void>
}

/**
 * Starts the service: the store first, the listeners last.
 *
 * @throws StoreError when the list cannot be opened, ListenError when a port cannot be bound
 */
export async function startService(config: Config, log: Log): Promise<Service> {
  const { baseUrl, corsOrigins, list, ops, site } = config
  const headers = createCommonHeaders(baseUrl)
  const linked = { ...headers, Link: createLinkField(baseUrl) }
  // Loaded only where it is wanted: it is a tenth of the start.
  const metrics = ops && (await import('./http/metrics.ts')).createMetrics()
  const store = await openServiceStore(list, log)
  const intake = createIntake(store, { log, metrics })
  const body = createBodyReader({ bytes: MAX_BODY_BYTES, deadlineMs: BODY_DEADLINE_MS })
  const cors = createCors(corsOrigins, { ...headers, 'Cache-Control': CACHE_CONTROL.endpoint })
  const subscribe = createSubscribe({ intake, cors, body })
  const assets = await createPageAssets(site)
  const documents = new Map(
    await Promise.all(
      [...(await createDocuments(config, listPages(site.languages))), ...assets.documents].map(
        async (document) => {
          const create =
            'write' in document
              ? createDailyHandler(document, linked)
              : createDocumentHandler(document, linked)
          return [document.path, await create] as const
        },
      ),
    ),
  )
  const guide = documents.get(DOCUMENTS.llmsTxt.path)
  const pages = await createPages({ site, baseUrl, assets, headers: linked, guide, intake, body })

  try {
    const app = createApp({ baseUrl, headers: linked, cors, subscribe, documents, pages, log, metrics })
    const opsServer =
      ops && metrics && listen(createOps({ metrics, store: intake, timeoutMs: STORE_DEADLINE_MS }), ops)
    const server = listen(app, config)
    log.info(
      { port: server.port, baseUrl, list: toListName(list), ...(opsServer && { opsPort: opsServer.port }) },
      `listening on ${config.host} port ${server.port} for ${baseUrl}, keeping ${toListName(list)}`,
    )
    return {
      async stop() {
        await server.stop(body.abortPending)
        await intake.idle()
        await Promise.all([opsServer?.stop(), store.close()])
      },
    }
  } catch (error) {
    await store.close()
    throw error
  }
}
