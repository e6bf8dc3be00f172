/** Where a request goes: its target and its host. Both come from the client, so neither is trusted. */

import { MAX_TARGET_LENGTH } from '../limits.ts'

/**
 * Returns the target of a request in origin form, for a redirect: path and query in printable ASCII, without the
 * fragment.
 *
 * The runtime puts the Host header and the target into `request.url`. When the header is missing (HTTP/1.0) or is not
 * a host, the URL is only the target as it was sent, and `new URL` would throw. Otherwise the first slash after the
 * scheme ends the host, which the runtime has checked. The target of CONNECT is only a host (RFC 9112 section 3.2.3),
 * without a path.
 *
 * @returns a target that begins with a slash, so that it cannot extend a host in front of it; `/` instead of one that is
 * longer than MAX_TARGET_LENGTH
 */
export function toTarget(url: string): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
  if (start === -1) return '/'
  const end = url.indexOf('#', start)
  const target = end === -1 ? url.slice(start) : url.slice(start, end)
  // Only invalid characters, each of which the runtime has encoded as two bytes, make it so long.
  if (target.length > MAX_TARGET_LENGTH) return '/'
  if (!/[^\x21-\x7e]/.test(target)) return target
  // A field cannot have other characters. The URL parser encodes them, here as in the URL of a valid Host.
  const isLong = target.length * MAX_ENCODED_LENGTH > MAX_TARGET_LENGTH
  return isLong ? '/' : new URL(ANY_ORIGIN + target).href.slice(ANY_ORIGIN.length)
}

const ANY_ORIGIN = 'http://a'

/** Characters that encode one of Latin-1: two bytes of UTF-8, such as %C3%A9. */
const MAX_ENCODED_LENGTH = 6

/** Returns the query of a target with its question mark; empty if there is none. */
export function toQuery(target: string): string {
  const start = target.indexOf('?')
  return start === -1 ? '' : target.slice(start)
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
