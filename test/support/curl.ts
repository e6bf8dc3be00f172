/** Does what the documentation uses of curl, for a machine that has none: `curl URL [-H FIELD]... [-d BODY]`. */

import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    header: { type: 'string', short: 'H', multiple: true, default: [] },
    data: { type: 'string', short: 'd' },
  },
})
const headers = values.header.map((field): [string, string] => {
  const colon = field.indexOf(':')
  return [field.slice(0, colon), field.slice(colon + 1).trim()]
})
const request = values.data === undefined ? { headers } : { method: 'POST', headers, body: values.data }
const response = await fetch(positionals[0] ?? '', request)
process.stdout.write(await response.text())
