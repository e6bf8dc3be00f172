/** Where a request is for: its path and its host, found without trusting either. */

/**
 * The target of a request, in origin form: path and query, no fragment.
 *
 * The runtime joins the Host field and the target into `request.url`; where the field is missing (HTTP/1.0)
 * or is no host, the URL is the bare target. So this is no job for `new URL`, which would throw, and the
 * first slash after the scheme ends the host, which the runtime has checked. The target of CONNECT is a
 * host alone (RFC 9112 section 3.2.3), without a path.
 *
 * @returns always with a slash in front, so that whatever is put before it ends there
 */
export function toTarget(url: string): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
  if (start === -1) return '/'
  const end = url.indexOf('#', start)
  return end === -1 ? url.slice(start) : url.slice(start, end)
}

/** The path of a target, without its query. */
export function toPath(target: string): string {
  const query = target.indexOf('?')
  return query === -1 ? target : target.slice(0, query)
}

/**
 * Finds the host that is to lead to the canonical one: the name in the base URL without its `www.`, or with
 * a `www.` where it has none.
 *
 * @returns whether a Host field names it, with any port, in any case; false for what is no host at all
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
