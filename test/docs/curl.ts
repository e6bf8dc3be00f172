/**
 * Does what the documentation uses of curl, for a machine that has none. The options --silent, --show-error and --max-time
 * are accepted and do nothing.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    header: { type: 'string', short: 'H', multiple: true, default: [] },
    data: { type: 'string', short: 'd' },
    'data-binary': { type: 'string' },
    config: { type: 'string' },
    output: { type: 'string' },
    'write-out': { type: 'string', default: '' },
    'max-time': { type: 'string' },
    fail: { type: 'boolean', default: false },
    silent: { type: 'boolean' },
    'show-error': { type: 'boolean' },
  },
})

/** Reads an argument, or the file that it names after `@`; `-` is standard input. */
function readArgument(text: string): string {
  if (!text.startsWith('@')) return text
  return readFileSync(text === '@-' ? 0 : text.slice(1), 'utf8').replace(/\n$/, '')
}

/** The only lines of a config file that the documentation has: `header = "…"` and `user = "…"`. */
const config = values.config === undefined ? '' : readFileSync(values.config, 'utf8')
const [, configured] = /^header = "(.*)"$/m.exec(config) ?? []
const [, user] = /^user = "(.*)"$/m.exec(config) ?? []

const fields = [...values.header.map(readArgument), ...(configured === undefined ? [] : [configured])]
if (user !== undefined) fields.push(`Authorization: Basic ${btoa(user)}`)
const headers = fields.map((field): [string, string] => {
  const colon = field.indexOf(':')
  return [field.slice(0, colon), field.slice(colon + 1).trim()]
})
const data = values.data ?? values['data-binary']
const request = data === undefined ? { headers } : { method: 'POST', headers, body: readArgument(data) }
const response = await fetch(positionals[0] ?? '', request)
const text = await response.text()
if (values.fail && !response.ok) process.exit(22)
if (values.output === undefined) process.stdout.write(text)
else writeFileSync(values.output, text)
process.stdout.write(values['write-out'].replace('%{http_code}', String(response.status)))
