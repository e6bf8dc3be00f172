/** Builds the service from its parts: opens and closes them in order. */

import type { Config } from './config/config.ts'
import { toAbsoluteName } from './config/list-url.ts'
import { createLinkField } from './documents/links.ts'
import { createDocuments, type Document } from './documents/site-documents.ts'
import { type App, createApp } from './http/app.ts'
import { type BodyReader, createBodyReader } from './http/body.ts'
import { createCors } from './http/cors.ts'
import type { Metrics } from './http/metrics.ts'
import { createOps } from './http/ops.ts'
import { createPages } from './http/pages.ts'
import { createDocumentHandler } from './http/representations.ts'
import { createHeaders, createJsonResponses, type Handler, type HeaderFields } from './http/responses.ts'
import { listen, type Server, sleepUntil } from './http/server.ts'
import { createSubscribe } from './http/subscribe.ts'
import { createIntake, type Intake } from './intake/intake.ts'
import { STOP_PHASE_ENDS_MS } from './limits.ts'
import type { Log } from './log.ts'
import { listPages } from './page/head.tsx'
import { createPageAssets, type PageAssets } from './page/site-assets.ts'
import { DOCUMENTS } from './routes.ts'
import { openServiceStore } from './store/open.ts'
import type { ServiceStore } from './subscriber.ts'
import { VERSION } from './version.ts'

export interface Service {
  /** The ports that it listens on: those of the settings, or free ones. */
  readonly port: number
  readonly opsPort: number | undefined
  /** Resolves with the reason when a newer program has migrated the list. Then the service must be stopped: every address gets 500. */
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

/**
 * Starts the service: the list is opened, then each listener. When a step fails, what is open is closed again.
 *
 * @throws StoreError or UsageError when the list cannot be opened; Failure when a port cannot be bound; as `createPageAssets`. Nothing
 * stays open
 */
export async function startService(config: Config, log: Log): Promise<Service> {
  const outdated = Promise.withResolvers<string>()
  // Begins now, because the list opens on a thread of its own meanwhile.
  const building = createPageAssets(config.site)
  // When the list cannot be opened, nobody waits for it: only that failure counts then.
  building.catch(() => {})
  const store = await openServiceStore(config.list, log, outdated.resolve)
  let opsServer: Server | undefined
  try {
    // Its failure closes the list too.
    const assets = await building
    const metrics = await loadMetrics(config)
    const intake = createIntake(store, { log, metrics })
    // Creates the schema of a PostgreSQL list before the first address arrives. The log says why, when the list cannot be written yet.
    void intake.ready().catch(() => {})
    const bodies = createBodyReader()
    const app = createPublicApp({ config, log, assets, metrics, intake, bodies })
    // Before the public listener: when this port is taken, the start fails, and must not cut off people who are being served already.
    opsServer = await listenForOps({ config, log, metrics, intake, store })
    const server = listen(app, config)
    return {
      port: server.port,
      opsPort: opsServer?.port,
      outdated: outdated.promise,
      stop: createStop({ bodies, server, opsServer, intake, store }),
    }
  } catch (error) {
    // Without a wait: this server has no client yet.
    await opsServer?.stop(Number.NEGATIVE_INFINITY)
    await store.close()
    throw error
  }
}

/** Creates the metrics, if there is a listener that shows them. */
async function loadMetrics({ ops, site }: Config): Promise<Metrics | undefined> {
  if (!ops) return undefined
  // Loaded only when it is needed, because that takes a tenth of the start.
  const { createMetrics } = await import('./http/metrics.ts')
  const paths = listPages(site.languages).map((page) => page.path)
  return createMetrics(paths)
}

/** What the public listener is made of. */
interface PublicParts {
  readonly config: Config
  readonly log: Log
  readonly assets: PageAssets
  readonly metrics: Metrics | undefined
  readonly intake: Intake
  readonly bodies: BodyReader
}

/** Creates the application of the public listener: the endpoint, the pages and the documents. */
function createPublicApp({ config, log, assets, metrics, intake, bodies }: PublicParts): App {
  const { baseUrl, site } = config
  const headers = createHeaders(baseUrl, createLinkField(baseUrl))
  const responses = createJsonResponses(headers.error)
  const cors = createCors(config.corsOrigins, headers.endpoint)
  const subscribe = createSubscribe(intake, cors, bodies)
  const documents = new Map([
    ...toHandlers(createDocuments(config, listPages(site.languages)), headers.document),
    ...toHandlers(assets.documents, headers.asset),
  ])
  // The guide is always among the documents.
  const guide = documents.get(DOCUMENTS.llmsTxt.path) as Handler
  const pages = createPages({ site, baseUrl, assets, headers: headers.document, responses, guide, intake, bodies })
  return createApp({ baseUrl, responses, cors, bodies, subscribe, documents, pages, log, metrics })
}

/** The path of each document, with its handler. */
function toHandlers(documents: readonly Document[], fields: HeaderFields) {
  return documents.map((document) => [document.path, createDocumentHandler(document, fields)] as const)
}

/** What the operations listener is made of. */
interface OpsParts extends Pick<PublicParts, 'config' | 'log' | 'metrics' | 'intake'> {
  readonly store: ServiceStore
}

/** Opens the operations listener, if the settings have one. @throws Failure when its port cannot be bound */
async function listenForOps({ config, log, metrics, intake, store }: OpsParts): Promise<Server | undefined> {
  const { ops } = config
  // Both are there, or none: see `loadMetrics`.
  if (!ops || !metrics) return undefined
  const settings = {
    // First: `doctor` recognizes the answer by it.
    base_url: config.baseUrl,
    version: VERSION,
    list: toAbsoluteName(config.list),
    site_file: config.siteFile ?? null,
  }
  const app = await createOps({ metrics, intake, store, log, host: ops.host, settings })
  return listen(app, ops, 'OPS_PORT')
}

/** What a stop ends, in this order. */
interface OpenParts {
  readonly bodies: BodyReader
  readonly server: Server
  readonly opsServer: Server | undefined
  readonly intake: Intake
  readonly store: ServiceStore
}

/** Creates the stop of a service. */
function createStop({ bodies, server, opsServer, intake, store }: OpenParts): Service['stop'] {
  return async (signaledAt) => {
    bodies.endBy(signaledAt + STOP_PHASE_ENDS_MS.bodies)
    const stopping = [server.stop(signaledAt), opsServer?.stop(signaledAt)] as const
    const [requests] = await Promise.all(stopping)
    const closed = intake.close().then(() => store.close())
    const isClosed = await Promise.race([
      closed.then(() => true),
      sleepUntil(signaledAt + STOP_PHASE_ENDS_MS.store).then(() => false),
    ])
    const isClean = isClosed && requests === 0
    return isClean ? undefined : { requests, addresses: intake.pending() }
  }
}
