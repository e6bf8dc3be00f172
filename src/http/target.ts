/** Where a request goes: its path and its host. Both come from the client, so neither is trusted. */

/**
 * Returns the target of a request in origin form: path and query, without the fragment.
 *
 * The runtime puts the Host header and the target into `request.url`. When the header is missing (HTTP/1.0) or is not
 * a host, the URL is only the target, and `new URL` would throw. Otherwise the first slash after the scheme ends the
 * host, which the runtime has checked. The target of CONNECT is only a host (RFC 9112 section 3.2.3), without a path.
 *
 * @returns a target that begins with a slash, so that it cannot extend a host in front of it
 */
export function toTarget(url: string): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
  if (start === -1) return '/'
  const end = url.indexOf('#', start)
  return end === -1 ? url.slice(start) : url.slice(start, end)
}

/** Returns the path of a target, without its query. */
export function toPath(target: string): string {
  const query = target.indexOf('?')
  return query === -1 ? target : target.slice(0, query)
}

/**
 * Creates the check for the alias of the canonical host: the host of the base URL without its `www.`, or with `www.`
 * if it has none.
 *
 * @returns whether a Host header is the alias, with any port, in any case; false when it is not a host
 */
export function createAliasCheck(baseUrl: string): (host: string) => boolean {
  const { hostname } = new URL(baseUrl)
  const alias = hostname.startsWith('www.') ? hostname.slice('www.'.length) : `www.${hostname}`
  const length = alias.length
  return (host) =>
    host.length >= length &&
    host.slice(0, length).toLowerCase() === alias &&
    /^\.?(?::[0-9]*)?$/.test(host.slice(length))
}
