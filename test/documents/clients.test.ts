/** A client that openapi-typescript writes from the description. `npm run test:only -- generators` tries two more. */

import { expect, onTestFinished, test } from 'bun:test'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import openapiTypeScript, { astToString } from 'openapi-typescript'
import { DOCUMENTS } from '../support/contract.ts'
import { checkClient } from '../support/generated-client.ts'
import { ROOT } from '../support/paths.ts'
import { runCommand, startService } from '../support/service.ts'
import { createFolder } from '../support/workspace.ts'

const PROGRAM = {
  name: 'program',
  text: `
import createClient from 'openapi-fetch'
import type { components, paths } from './client.ts'

const client = createClient<paths>({ baseUrl: process.argv[2] ?? '' })
type Code = components['schemas']['Code']

const accepted = await client.POST('/api/newsletter', { body: { email: ' ada@example.org ' } })
const ok: true | undefined = accepted.data?.ok
const refused = await client.POST('/api/newsletter', { body: { email: 'nobody' } })
const code: Code | 'rate_limited' | undefined = refused.error?.message
const hint: string | undefined = refused.error?.error.hint
const metadata = await client.GET('/.well-known/oauth-protected-resource')
const resource: string | undefined = metadata.data?.resource
const catalog = await client.GET('/.well-known/api-catalog')
const description: string | undefined = catalog.data?.linkset[1]?.['service-desc']?.[0]?.href
const guide = await client.GET('/llms.txt', { parseAs: 'text' })
export const text: string | undefined = guide.data
`,
  mistakes: [
    `client.POST('/api/newsletter', { body: { email: 1 } })`,
    `client.POST('/api/newsletter', { body: { mail: 'a@example.org' } })`,
    `client.POST('/api/newsletter')`,
    `client.POST('/newsletter', { body: { email: 'a@example.org' } })`,
    `client.GET('/api/newsletter')`,
    `client.POST('/llms.txt')`,
  ],
}

test('a generated client compiles, refuses wrong calls, subscribes, gets a typed error, and reads documents', async () => {
  const service = await startService()
  const folder = await createFolder()
  onTestFinished(() => service.stop())
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const { body } = await service.request(DOCUMENTS.openApiJson.path)
  await Bun.write(join(folder, 'client.ts'), astToString(await openapiTypeScript(JSON.parse(body))))
  await checkClient(PROGRAM, folder, service.origin)
  const { stdout } = await runCommand(['export', '--format', 'txt', '--include-reserved'], { folder: service.folder })
  expect(stdout).toBe('ada@example.org\n')
})
