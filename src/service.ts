/** Builds the service from its parts: opens and closes them in order. */

import type { Config } from './config/config.ts'
import { toAbsoluteName } from './config/list-url.ts'
import { createLinkField } from './documents/links.ts'
import { createDocuments, type Document } from './documents/site-documents.ts'
import { createApp } from './http/app.ts'
import { createBodyReader } from './http/body.ts'
import { createCors } from './http/cors.ts'
import { createOps } from './http/ops.ts'
import { createPages } from './http/pages.ts'
import { createDocumentHandler } from './http/representations.ts'
import { createHeaders, createJsonResponses, type Handler, type HeaderFields } from './http/responses.ts'
import { listen, type Server, sleepUntil } from './http/server.ts'
import { createSubscribe } from './http/subscribe.ts'
import { createIntake } from './intake/intake.ts'
import { STOP_PHASE_ENDS_MS } from './limits.ts'
import type { Log } from './log.ts'
import { listPages } from './page/head.tsx'
import { createPageAssets } from './page/site-assets.ts'
import { DOCUMENTS } from './routes.ts'
import { openServiceStore } from './store/open.ts'
import { VERSION } from './version.ts'

export interface Service {
  /** The ports that it listens on: those of the settings, or free ones. */
  readonly port: number
  readonly opsPort: number | undefined
  /** Resolves with the reason when a newer program has migrated the list. Then the service must be stopped: it gets 500 only. */
  readonly outdated: Promise<string>
  /**
   * Answers every request that has begun, then closes the store. What takes longer than its phase is cut off.
   *
   * @param signaledAt when the stop was asked for, by `performance.now()`; see STOP_PHASE_ENDS_MS
   * @returns undefined after a clean stop; otherwise the requests without a complete response, and the addresses that the store
   * neither confirmed nor refused. Both are 0 when only the store did not close in time
   */
  stop(signaledAt: number): Promise<{ readonly requests: number; readonly addresses: number } | undefined>
}

/** Starts the service. @throws StoreError when the list cannot be opened; Failure when a port cannot be bound: nothing stays open */
export async function startService(config: Config, log: Log): Promise<Service> {
  const { baseUrl, corsOrigins, list, ops, site, siteFile = null } = config
  const headers = createHeaders(baseUrl, createLinkField(baseUrl))
  const outdated = Promise.withResolvers<string>()
  // Begins now, because the list opens on a thread of its own meanwhile.
  const building = createPageAssets(site)
  // When the list cannot be opened, nobody waits for it: only that failure counts then.
  building.catch(() => {})
  const store = await openServiceStore(list, log, outdated.resolve)
  let opsServer: Server | undefined
  try {
    // Its failure closes the list too.
    const assets = await building
    const toHandlers = (documents: readonly Document[], fields: HeaderFields) =>
      documents.map((document) => [document.path, createDocumentHandler(document, fields)] as const)
    const documents = new Map([
      ...toHandlers(createDocuments(config, listPages(site.languages)), headers.document),
      ...toHandlers(assets.documents, headers.asset),
    ])
    // Loaded only when it is needed, because that takes a tenth of the start.
    const metrics =
      ops && (await import('./http/metrics.ts')).createMetrics(listPages(site.languages).map(({ path }) => path))
    const intake = createIntake(store, { log, metrics })
    // Creates the schema of a PostgreSQL list before the first address arrives. The log says why, when the list cannot be written yet.
    void intake.ready().catch(() => {})
    const bodies = createBodyReader()
    const cors = createCors(corsOrigins, headers.endpoint)
    const subscribe = createSubscribe(intake, cors, bodies)
    // The guide is always among the documents.
    const guide = documents.get(DOCUMENTS.llmsTxt.path) as Handler
    const responses = createJsonResponses(headers.error)
    const pages = createPages({ site, baseUrl, assets, headers: headers.document, responses, guide, intake, bodies })
    const app = createApp({ baseUrl, responses, cors, bodies, subscribe, documents, pages, log, metrics })
    const settings = { base_url: baseUrl, version: VERSION, list: toAbsoluteName(list), site_file: siteFile }
    if (ops && metrics) {
      opsServer = listen(await createOps({ metrics, intake, store, log, host: ops.host, settings }), ops, 'OPS_PORT')
    }
    const server = listen(app, config)
    return {
      port: server.port,
      opsPort: opsServer?.port,
      outdated: outdated.promise,
      async stop(signaledAt) {
        bodies.endBy(signaledAt + STOP_PHASE_ENDS_MS.bodies)
        const [requests] = await Promise.all([server.stop(signaledAt), opsServer?.stop(signaledAt)])
        const closed = intake.close().then(() => store.close())
        const isClosed = await Promise.race([
          closed.then(() => true),
          sleepUntil(signaledAt + STOP_PHASE_ENDS_MS.store).then(() => false),
        ])
        return isClosed && requests === 0 ? undefined : { requests, addresses: intake.pending() }
      },
    }
  } catch (error) {
    // Without a wait: this server has no client yet.
    await opsServer?.stop(Number.NEGATIVE_INFINITY)
    await store.close()
    throw error
  }
}
