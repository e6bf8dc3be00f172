/** The env file: lines `NAME=value`, as systemd and Docker read them. */

import { isUtf8 } from 'node:buffer'
import { parseEnv } from 'node:util'
import { UsageError } from '../failure.ts'
import { isTypo } from '../likely-address.ts'

/** The names of all settings. Others in an env file are for other programs. */
export const SETTINGS: readonly string[] = [
  ...['PORT', 'HOST', 'BASE_URL', 'DATABASE_URL', 'DATABASE_URL_FILE', 'SITE_FILE', 'CORS_ORIGINS'],
  ...['OPS_PORT', 'OPS_HOST', 'LOG_LEVEL', 'ENV_FILE'],
]

/** A value: in quotes, or without them, when a `#` would begin a comment. */
const VALUE = /"[^"]*"|'[^']*'|`[^`]*`|[^\s"'`#][^#]*/

/** A line: blank, a comment, or a setting, which may have no value. */
const LINE = RegExp(`^\\s*(?:(?:export\\s+)?([A-Za-z_]\\w*)\\s*=\\s*(?:${VALUE.source})?)?\\s*(?:(?<=^|\\s)#.*)?$`)

/**
 * Parses an env file: text in UTF-8, without a name that is almost one of Rollcall's.
 *
 * @param source names the file, for errors
 * @throws UsageError with the number of the first wrong line, and without its content
 */
export function parseEnvFile(bytes: Uint8Array, source: string): NodeJS.Dict<string> {
  const text = decode(bytes)
  if (text === undefined) throw new UsageError(`${source}, which is not text in UTF-8: save it as UTF-8`)
  for (const [index, line] of text.split('\n').entries()) {
    const place = `${source}, and line ${index + 1}`
    const found = LINE.exec(line)
    if (!found)
      throw new UsageError(`${place} is not NAME=value: correct it, or put # before it; a value with a # needs quotes`)
    const { 1: name } = found
    const meant = name && SETTINGS.find((setting) => isAlmost(name, setting))
    if (meant) throw new UsageError(`${place} has ${name}: use ${meant}`)
  }
  return parseEnv(text)
}

/** The text without a byte order mark; undefined when it is not UTF-8, or has controls but line breaks and tabs. */
function decode(bytes: Uint8Array): string | undefined {
  const text = new TextDecoder().decode(bytes).replaceAll('\r\n', '\n')
  return isUtf8(bytes) && !/(?![\t\n])\p{Cc}/u.test(text) ? text : undefined
}

/** Whether a name is a setting but for case, `_` and a typing error. */
function isAlmost(name: string, setting: string): boolean {
  const toLetters = (text: string) => text.toUpperCase().replaceAll('_', '')
  return !SETTINGS.includes(name) && isTypo(toLetters(name), toLetters(setting))
}
