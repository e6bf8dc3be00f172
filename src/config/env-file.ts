/** The env file: lines `NAME=value`, as systemd and Docker read them. */

import { isUtf8 } from 'node:buffer'
import { parseEnv } from 'node:util'
import { UsageError } from '../failure.ts'
import { countErrors, toSorted } from '../likely-address.ts'

/** The names of all settings. Others in an env file are for other programs. */
export const SETTINGS: readonly string[] = [
  ...['PORT', 'HOST', 'BASE_URL', 'DATABASE_URL', 'DATABASE_URL_FILE', 'SITE_FILE', 'CORS_ORIGINS'],
  ...['OPS_PORT', 'OPS_HOST', 'LOG_LEVEL', 'ENV_FILE'],
]

/** Lines of an env file: blank, a comment, or a setting, whose value has more lines in quotes only. */
const VALUE = `"[^"]*"|'[^']*'|\`[^\`]*\`|(?!["'\`#])[^\\n#]*[^\\s#]|`
const LINE = new RegExp(
  `[ \\t]*(?:(?:export[ \\t]+)?([A-Za-z_]\\w*)[ \\t]*=[ \\t]*(?:${VALUE}))?(?:[ \\t]*|(?:^|[ \\t]+)#.*)(?:\\n|$)`,
  'my',
)

/**
 * Parses an env file: text in UTF-8 with at least one setting, and without a name that is almost one of Rollcall's.
 *
 * @param source names the file, for errors
 * @throws UsageError with the number of the first wrong line, and without its content
 */
export function parseEnvFile(bytes: Uint8Array, source: string): NodeJS.Dict<string> {
  const text = decode(bytes)
  if (text === undefined) throw new UsageError(`${source}, which is not text in UTF-8: save it as UTF-8`)
  let hasSetting = false
  for (let end = 0; end < text.length; end = LINE.lastIndex) {
    LINE.lastIndex = end
    const found = LINE.exec(text)
    const line = `${source}, and line ${text.slice(0, end).split('\n').length}`
    if (!found)
      throw new UsageError(`${line} is not NAME=value: correct it, or put # before it; a value with a # needs quotes`)
    const { 1: name } = found
    const meant = name && SETTINGS.find((setting) => isAlmost(name, setting))
    if (meant) throw new UsageError(`${line} has ${name}: use ${meant}`)
    hasSetting ||= name !== undefined
  }
  if (hasSetting) return parseEnv(text)
  throw new UsageError(`${source}, which has no line NAME=value: remove the # before a setting, or use another file`)
}

/** The text without a byte order mark; undefined when it is not UTF-8, or has controls but line breaks and tabs. */
function decode(bytes: Uint8Array): string | undefined {
  const text = new TextDecoder().decode(bytes).replaceAll('\r\n', '\n')
  return isUtf8(bytes) && !/(?![\t\n])\p{Cc}/u.test(text) ? text : undefined
}

/** Whether a name is a setting except for case, `_`, or one letter that is wrong, missing, too many, or swapped with another. */
function isAlmost(name: string, setting: string): boolean {
  if (SETTINGS.includes(name)) return false
  const [one, other] = [name, setting].map((text) => text.toUpperCase().replaceAll('_', '')) as [string, string]
  const errors = countErrors(one, other)
  return errors < 2 || (errors === 2 && toSorted(one) === toSorted(other))
}
