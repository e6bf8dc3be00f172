/**
 * Generates a client with each of three generators. It runs as a process of its own, because the generators load a lot
 * of code. Arguments: a file with a description in JSON, the origin of the service, and the folder for the clients.
 */

import { join } from 'node:path'
import { createClient } from '@hey-api/openapi-ts'
import openapiTypeScript, { astToString } from 'openapi-typescript'
import { generate } from 'orval'

const [file = '', origin = '', folder = ''] = process.argv.slice(2)
const read = () => Bun.file(file).json()

await Bun.write(join(folder, 'openapi-typescript.ts'), astToString(await openapiTypeScript(await read())))

await createClient({
  input: await read(),
  output: join(folder, 'hey-api'),
  plugins: ['@hey-api/client-fetch', '@hey-api/sdk', '@hey-api/typescript'],
  logs: { level: 'silent' },
})

await generate({
  input: file,
  output: { target: join(folder, 'orval.ts'), client: 'fetch', baseUrl: origin },
})
