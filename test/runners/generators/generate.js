// Writes clients from the description. Arguments: a file with the description in JSON, and the origin of the service.

import { createClient } from '@hey-api/openapi-ts'
import { generate } from 'orval'

const [input = '', baseUrl = ''] = process.argv.slice(2)

await createClient({
  input: await Bun.file(input).json(),
  output: 'hey-api',
  plugins: ['@hey-api/client-fetch', '@hey-api/sdk', '@hey-api/typescript'],
  logs: { level: 'silent' },
})
await generate({ input, output: { target: 'orval.ts', client: 'fetch', baseUrl } })
