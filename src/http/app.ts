/** The application as a function of its parts: a table of paths, the redirect to the canonical host, and the 404. */

import { MAX_HOST_LENGTH } from '../limits.ts'
import type { Log } from '../log.ts'
import { CACHE_CONTROL, ENDPOINT } from '../routes.ts'
import type { BodyReader } from './body.ts'
import type { Cors } from './cors.ts'
import { READABLE_BY_ANY_ORIGIN } from './document-handler.ts'
import type { Metrics } from './metrics.ts'
import { createJsonResponses, type Handler, type HeaderFields, redirect } from './responses.ts'
import { createAliasCheck, toTarget } from './target.ts'

export interface AppOptions {
  readonly baseUrl: string
  /** Headers of every response. */
  readonly headers: HeaderFields
  readonly cors: Pick<Cors, 'headersFor'>
  readonly body: Pick<BodyReader, 'discard'>
  /** Handles every method at the path of the endpoint. */
  readonly subscribe: Handler
  /** Handles GET and HEAD of the read-only resources, by path. */
  readonly documents: ReadonlyMap<string, Handler>
  /** Handles every method of the pages, by path. */
  readonly pages: ReadonlyMap<string, Handler>
  readonly log: Log
  readonly metrics?: Metrics | undefined
}

export interface App {
  /**
   * Handles the requests to each path. The server compares the path byte for byte as it was sent: `request.url` is
   * normalised, so another spelling of a path, which no rule of a proxy matches, would look the same there.
   */
  readonly routes: ReadonlyMap<string, Handler>
  /** Handles all other requests. */
  readonly fetch: Handler
  /** Logs an error that a handler did not expect, and returns the response to its request. */
  readonly error: (error: unknown) => Response
}

export function createApp(options: AppOptions): App {
  const { baseUrl, headers, cors, body, subscribe, documents, pages, log, metrics } = options
  const isAlias = createAliasCheck(baseUrl)
  const responses = createJsonResponses({ ...headers, 'Cache-Control': CACHE_CONTROL.endpoint })

  /**
   * Creates the handler of a path, which redirects requests for the other name of the host.
   *
   * @param label of the path in metrics
   * @param toAliasHeaders the headers of a redirect
   */
  function createRoute(label: string, handler: Handler, toAliasHeaders: Cors['headersFor'] = () => headers): Handler {
    function respond(request: Request): Response | Promise<Response> {
      const host = request.headers.get('host')
      if (isLongHost(host)) return responses.problem('no_such_path')
      if (host !== null && isAlias(host)) return redirect(308, baseUrl + toTarget(request.url), toAliasHeaders(request))
      // The target of CONNECT is a host, not a path (RFC 9112 section 3.2.3).
      return request.method === 'CONNECT' ? responses.problem('no_such_path') : handler(request)
    }

    return toMeasured(label, (request) => {
      const response = respond(request)
      // With a promise, the handler reads the body. GET and HEAD have none.
      const mayHaveBody = request.method !== 'GET' && request.method !== 'HEAD'
      return mayHaveBody && response instanceof Response ? body.discard(request, response) : response
    })
  }

  function toReadOnly(document: Handler): Handler {
    return (request) =>
      request.method === 'GET' || request.method === 'HEAD' ? document(request) : responses.problem('read_only')
  }

  function error(error: unknown): Response {
    log.error({ err: error }, 'a request failed unexpectedly')
    return responses.problem('store_failed')
  }

  function toMeasured(label: string, handler: Handler): Handler {
    if (!metrics) return handler
    return async (request) => {
      const start = performance.now()
      const response = await Promise.try(handler, request).catch(error)
      metrics.request(label, response.status, performance.now() - start)
      return response
    }
  }

  // A browser lets a page of another origin follow a redirect only if CORS allows both responses (Fetch, "HTTP fetch").
  const toReadableHeaders = () => ({ ...headers, ...READABLE_BY_ANY_ORIGIN })
  const routes = new Map<string, Handler>([[ENDPOINT.path, createRoute(ENDPOINT.path, subscribe, cors.headersFor)]])
  for (const [path, document] of documents) {
    routes.set(path, createRoute(path, toReadOnly(document), toReadableHeaders))
  }
  for (const [path, page] of pages) routes.set(path, createRoute(path.toLowerCase(), page))
  // Paths without a route share a label, so that clients cannot create series.
  return { routes, fetch: createRoute('other', () => responses.problem('no_such_path')), error }
}

/** Whether a Host is longer than any. Then `request.url` must not be read: the runtime normalises it in quadratic time. */
function isLongHost(host: string | null): boolean {
  return host !== null && host.length > MAX_HOST_LENGTH
}
