/** The application as a function of its parts: dispatches a request by host, then path, then method. */

import type { Log } from '../log.ts'
import { CACHE_CONTROL, ENDPOINT } from '../routes.ts'
import type { Cors } from './cors.ts'
import { READABLE_BY_ANY_ORIGIN } from './document-handler.ts'
import type { Metrics } from './metrics.ts'
import { createJsonResponses, type Handler, type HeaderFields, redirect } from './responses.ts'
import { createAliasCheck, toPath, toTarget } from './target.ts'

export interface AppOptions {
  readonly baseUrl: string
  /** Headers of every response. */
  readonly headers: HeaderFields
  readonly cors: Pick<Cors, 'headersFor'>
  /** Handles every method at the path of the endpoint. */
  readonly subscribe: Handler
  /** Handles GET and HEAD of the read-only resources, by path. */
  readonly documents: ReadonlyMap<string, Handler>
  /** Handles every method of the pages, by path in lower case. */
  readonly pages: ReadonlyMap<string, Handler>
  readonly log: Log
  readonly metrics?: Metrics | undefined
}

export interface App {
  readonly fetch: Handler
  /** Logs an error that a handler did not expect, and returns the response to its request. */
  readonly error: (error: unknown) => Response
}

export function createApp(options: AppOptions): App {
  const { baseUrl, headers, cors, subscribe, documents, pages, log, metrics } = options
  const isAlias = createAliasCheck(baseUrl)
  const responses = createJsonResponses({ ...headers, 'Cache-Control': CACHE_CONTROL.endpoint })

  function fetch(request: Request): Response | Promise<Response> {
    const target = toTarget(request.url)
    const path = toPath(target)
    const host = request.headers.get('host')
    if (host !== null && isAlias(host)) return redirect(308, baseUrl + target, toAliasHeaders(request, path))
    if (path === ENDPOINT.path) return subscribe(request)
    const document = documents.get(path)
    if (!document) return pages.get(path.toLowerCase())?.(request) ?? responses.problem('no_such_path')
    if (request.method !== 'GET' && request.method !== 'HEAD') return responses.problem('read_only')
    return document(request)
  }

  // A browser lets a page of another origin follow a redirect only if CORS allows both responses (Fetch, "HTTP fetch").
  function toAliasHeaders(request: Request, path: string): HeaderFields {
    if (path === ENDPOINT.path) return cors.headersFor(request)
    return documents.has(path) ? { ...headers, ...READABLE_BY_ANY_ORIGIN } : headers
  }

  function error(error: unknown): Response {
    log.error({ err: error }, 'a request failed unexpectedly')
    return responses.problem('store_failed')
  }

  /** Returns the label of a path in metrics. Unknown paths share a label, so that clients cannot create series. */
  function toRoute(path: string): string {
    if (path === ENDPOINT.path || documents.has(path)) return path
    return pages.has(path.toLowerCase()) ? path.toLowerCase() : 'other'
  }

  async function fetchMeasured(request: Request): Promise<Response> {
    const start = performance.now()
    const response = await Promise.try(fetch, request).catch(error)
    const route = toRoute(toPath(toTarget(request.url)))
    metrics?.request(route, response.status, performance.now() - start)
    return response
  }

  return { fetch: metrics ? fetchMeasured : fetch, error }
}
