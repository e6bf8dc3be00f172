/** The application, as a function of its parts: host, then path, then method. Listening and signals are server.ts. */

import type { Log } from '../log.ts'
import { CACHE_CONTROL, ENDPOINT } from '../routes.ts'
import type { Cors } from './cors.ts'
import { type DocumentHandler, READ_FROM_ANYWHERE } from './document-handler.ts'
import type { Metrics } from './metrics.ts'
import type { PageHandler } from './pages.ts'
import { createAnswers, type HeaderFields } from './responses.ts'
import { createAliasCheck, toPath, toTarget } from './target.ts'

export interface AppOptions {
  readonly baseUrl: string
  /** What every answer carries. */
  readonly headers: HeaderFields
  readonly cors: Pick<Cors, 'fieldsFor'>
  /** Answers everything at the endpoint's path. */
  readonly subscribe: (request: Request) => Response | Promise<Response>
  /** The read-only resources by path. */
  readonly documents: ReadonlyMap<string, DocumentHandler>
  /** The pages by path, in lower case. */
  readonly pages: ReadonlyMap<string, PageHandler>
  readonly log: Log
  readonly metrics?: Metrics | undefined
}

export interface App {
  /** Answers a request. */
  readonly fetch: (request: Request) => Response | Promise<Response>
  /** Answers for a request whose handling failed in a way that nobody foresaw. */
  readonly error: (error: unknown) => Response
}

/** Puts the application together. */
export function createApp(options: AppOptions): App {
  const { baseUrl, headers, cors, subscribe, documents, pages, log, metrics } = options
  const isAlias = createAliasCheck(baseUrl)
  const answers = createAnswers({ ...headers, 'Cache-Control': CACHE_CONTROL.endpoint })

  function fetch(request: Request): Response | Promise<Response> {
    const target = toTarget(request.url)
    const path = toPath(target)
    const host = request.headers.get('host')
    if (host !== null && isAlias(host)) return toRedirect(baseUrl + target, toRedirectFields(request, path))
    if (path === ENDPOINT.path) return subscribe(request)
    const document = documents.get(path)
    if (!document) return pages.get(path.toLowerCase())?.(request) ?? answers.problem('no_such_path')
    if (request.method !== 'GET' && request.method !== 'HEAD') return answers.problem('read_only')
    return document(request)
  }

  /** A browser follows a redirect for another origin's page only where that page may read it (Fetch, "HTTP fetch"). */
  function toRedirectFields(request: Request, path: string): HeaderFields {
    if (path === ENDPOINT.path) return cors.fieldsFor(request)
    return documents.has(path) ? { ...headers, ...READ_FROM_ANYWHERE } : headers
  }

  function error(error: unknown): Response {
    log.error({ err: error }, 'a request failed in a way that was not foreseen')
    return answers.problem('store_failed')
  }

  /** The paths that are there; any other would let callers choose how many series there are. */
  function toRoute(path: string): string {
    if (path === ENDPOINT.path || documents.has(path)) return path
    return pages.has(path.toLowerCase()) ? path.toLowerCase() : 'other'
  }

  async function measured(request: Request): Promise<Response> {
    const start = performance.now()
    const response = await Promise.try(fetch, request).catch(error)
    const route = toRoute(toPath(toTarget(request.url)))
    metrics?.request(route, response.status, performance.now() - start)
    return response
  }

  return { fetch: metrics ? measured : fetch, error }
}

/** To the same path under the canonical host, with the method and the body kept (RFC 9110 section 15.4.9). */
function toRedirect(location: string, headers: HeaderFields): Response {
  return new Response(null, { status: 308, headers: { ...headers, Location: location } })
}
