/** The application as a function of its parts: a table of paths, the redirect to the canonical host, and the 404. */

import { MAX_HOST_LENGTH } from '../limits.ts'
import type { Log } from '../log.ts'
import { ENDPOINT, OTHER } from '../routes.ts'
import type { BodyReader } from './body.ts'
import type { Cors } from './cors.ts'
import type { Metrics } from './metrics.ts'
import { READABLE_BY_ANY_ORIGIN } from './representations.ts'
import { type Handler, type HeaderFields, isRead, type JsonResponses, redirect } from './responses.ts'

interface AppOptions {
  readonly baseUrl: string
  readonly responses: JsonResponses
  readonly cors: Cors
  readonly bodies: Pick<BodyReader, 'discardUnread'>
  /** Handles every method at the path of the endpoint. */
  readonly subscribe: Handler
  /** Handles GET and HEAD of the read-only resources, by path. */
  readonly documents: ReadonlyMap<string, Handler>
  /** Handles every method of the pages, by path. */
  readonly pages: ReadonlyMap<string, Handler>
  readonly log: Log
  readonly metrics?: Metrics | undefined
}

/** What a server needs: see server.ts. */
export interface App {
  /**
   * Handles the requests to each path. The server compares the path byte for byte as it was sent. It must not use
   * `request.url`, which is normalized: another spelling of a path, which no rule of a proxy matches, looks the same there.
   */
  readonly routes: ReadonlyMap<string, Handler>
  /** Handles all other requests. */
  readonly fetch: Handler
  /** Logs an error that no handler expected, and returns the response to its request. */
  readonly error: (error: unknown) => Response
}

/** Creates the application: it checks the host of each request, and counts the response. */
export function createApp(options: AppOptions): App {
  const { baseUrl, responses, cors, bodies, subscribe, documents, pages, log, metrics } = options
  const isAlias = createAliasCheck(baseUrl)

  /** The headers of a redirect to the canonical host, which depend on the kind of path. */
  type ToRedirectHeaders = (request: Request) => HeaderFields

  const toUsual: ToRedirectHeaders = () => responses.headers
  // A browser lets a page of another origin follow a redirect only if CORS allows both responses (Fetch, "HTTP fetch").
  const toReadable: ToRedirectHeaders = () => ({ ...responses.headers, ...READABLE_BY_ANY_ORIGIN })

  /** Makes a handler check the host first. @param label of the path in metrics */
  function createRoute(label: string, handler: Handler, toRedirectHeaders = toUsual): Handler {
    const count = (response: Response) => {
      metrics?.request(label, response.status)
      return response
    }
    return (request) => {
      const response = bodies.discardUnread(request, checkHost(request, toRedirectHeaders) ?? handler(request))
      return metrics ? Promise.resolve(response).then(count) : response
    }
  }

  /**
   * Returns the response to a request for the alias, with a Host that is too long or doubled, or of the method CONNECT; undefined for every
   * other one.
   */
  function checkHost(request: Request, toRedirectHeaders: ToRedirectHeaders): Response | undefined {
    // The target of CONNECT is a host, not a path (RFC 9112 section 3.2.3).
    if (request.method === 'CONNECT') return responses.problem('no_such_path')
    const host = request.headers.get('host')
    if (host === null) return undefined
    // There is nothing at such a host, and the runtime takes quadratic time to normalize it for `request.url`.
    if (host.length > MAX_HOST_LENGTH) return responses.problem('no_such_path')
    // The runtime joins two fields (RFC 9112 section 3.2).
    if (host.includes(',')) return responses.problem('two_hosts')
    return isAlias(host) ? redirect(308, baseUrl + toTarget(request.url), toRedirectHeaders(request)) : undefined
  }

  const endpoint = createRoute(ENDPOINT.path, subscribe, (request) => cors(request).headers)
  const routes = new Map<string, Handler>([[ENDPOINT.path, endpoint]])
  for (const [path, document] of documents) {
    const read: Handler = (request) => (isRead(request) ? document(request) : responses.problem('read_only'))
    routes.set(path, createRoute(path, read, toReadable))
  }
  // In metrics, the case of a path makes no difference.
  for (const [path, page] of pages) routes.set(path, createRoute(path.toLowerCase(), page))
  return {
    routes,
    // Paths without a route share a label, so that clients cannot create series.
    fetch: createRoute(OTHER, () => responses.problem('no_such_path')),
    error(error) {
      log.error({ err: error }, 'a request failed unexpectedly')
      metrics?.request(OTHER, 500)
      return responses.problem('store_failed')
    },
  }
}

/** Returns the path and the query of a URL. They begin with a slash, so they cannot extend a host in front of them. */
function toTarget(url: string): string {
  return url.slice(url.indexOf('/', 'https://'.length)).replace(/#.*/, '')
}

/** Creates the check whether a Host is the alias, in any case, with any valid port, with or without a dot at its end. */
function createAliasCheck(baseUrl: string): (host: string) => boolean {
  const { hostname } = new URL(baseUrl)
  const alias = hostname.startsWith('www.') ? hostname.slice('www.'.length) : `www.${hostname}`
  // Each request pays for this check. The expression fails at the first letter of most hosts.
  const pattern = new RegExp(`^${RegExp.escape(alias)}\\.?(?::[0-9]*)?$`, 'i')
  return (host) => pattern.test(host) && URL.canParse(`http://${host}`)
}
