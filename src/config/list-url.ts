/** The URL of a list: which store keeps it, and where. */

import { UsageError } from '../failure.ts'

/** Where a list is kept. */
export type ListUrl =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string }

/**
 * Parses the URL of a list. `sqlite:` and `file:` take a path, relative to the working folder or absolute, with or
 * without `//` in front. `postgres:` and `postgresql:` are passed on unchanged.
 *
 * @param name what the error calls the value
 * @throws UsageError; it does not repeat a value that may hold a password
 */
export function parseListUrl(name: string, value: string): ListUrl {
  const file = decodePath(/^(?:sqlite|file):(?:\/\/)?([^?#]*)$/.exec(value)?.[1] ?? '')
  if (isFileName(file)) return Object.freeze({ kind: 'sqlite', file })
  if (/^postgres(?:ql)?:\/\/[^/]/.test(value) && URL.canParse(value)) {
    return Object.freeze({ kind: 'postgres', url: value })
  }
  throw new UsageError(
    `${name} is ${redactUrl(value)}: use sqlite:PATH, file:PATH or postgres://USER:PASSWORD@HOST/DATABASE`,
  )
}

/** Whether SQLite keeps a list on disk under this name. A leading colon or `file:` has another meaning there. */
function isFileName(path: string): boolean {
  return path !== '' && !/^(?::|file:)|\/$|\p{Cc}/u.test(path)
}

/** The part of a URL that an error may show: nothing that can be a password. */
function redactUrl(value: string): string {
  if (/^(?:sqlite|file):|^[^:@?=]*(?::\/[^:@?=]*)?$/.test(value)) return `"${value}"`
  const scheme = /^[a-z][a-z0-9+.-]*:(?=\/)/i.exec(value)?.[0]
  return scheme
    ? `"${scheme}…" (the rest is not shown: it may hold a password)`
    : 'not a known kind of URL (not shown: it may hold a password)'
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
