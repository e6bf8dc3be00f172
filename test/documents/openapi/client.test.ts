/** A client that openapi-typescript generates from the description: it compiles, and it can subscribe. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rm, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { DOCUMENTS } from '../../../src/routes.ts'
import { ROOT } from '../../support/paths.ts'
import { createFolder, type RunningService, runCommand, startService } from '../../support/service.ts'

const MODULES = resolve(ROOT, 'node_modules')

/** A program that uses the generated types. Its argument is the origin of the service. */
const CLIENT = `
import createClient from 'openapi-fetch'
import type { components, paths } from './schema.ts'

const client = createClient<paths>({ baseUrl: process.argv[2] ?? '' })
type Code = components['schemas']['Code']

const accepted = await client.POST('/api/newsletter', { body: { email: 'client@example.org' } })
const ok: true | undefined = accepted.data?.ok
const refused = await client.POST('/api/newsletter', { body: { email: 'nobody' } })
const code: Code | undefined = refused.error?.message
const hint: string | undefined = refused.error?.error.hint
const metadata = await client.GET('/.well-known/oauth-protected-resource')
const resource: string | undefined = metadata.data?.resource
const guide = await client.GET('/llms.txt', { parseAs: 'text' })
const text: string | undefined = guide.data
console.log(JSON.stringify({ ok, code, hint, resource, guide: text?.slice(0, 2) }))
`

/** Wrong calls that must not compile. */
const MISTAKES = [
  `client.POST('/api/newsletter', { body: { email: 1 } })`,
  `client.POST('/api/newsletter', { body: { mail: 'a@example.org' } })`,
  `client.POST('/api/newsletter')`,
  `client.POST('/newsletter', { body: { email: 'a@example.org' } })`,
  `client.GET('/api/newsletter')`,
  `client.POST('/llms.txt')`,
  `const other: Code = 'rate_limited'`,
]

let service: RunningService
let folder: string
beforeAll(async () => {
  service = await startService()
  folder = await createFolder()
  await symlink(MODULES, join(folder, 'node_modules'))
  const { path } = DOCUMENTS.openApiYaml
  await run('openapi-typescript/bin/cli.js', service.origin + path, '--output', 'schema.ts')
})
afterAll(async () => {
  await service.stop()
  await rm(folder, { recursive: true })
})

test('the client compiles, and wrong calls do not', async () => {
  await writeFile(join(folder, 'client.mts'), CLIENT)
  const lines = MISTAKES.map((mistake) => `${mistake}\n`)
  await writeFile(join(folder, 'mistakes.mts'), `${CLIENT}${lines.join('')}export { other }\n`)

  const first = CLIENT.split('\n').length
  const found = await compile('client.mts', 'mistakes.mts')
  const places = found.map((error) => error.replace(/^(\S+)\((\d+),.*/, '$1:$2'))
  expect([...new Set(places)]).toEqual(MISTAKES.map((_, index) => `mistakes.mts:${first + index}`))
})

test('the client subscribes', async () => {
  await writeFile(join(folder, 'client.mts'), CLIENT)
  const printed = await run(join(folder, 'client.mts'), service.origin)
  expect(JSON.parse(printed)).toEqual({
    ok: true,
    code: 'invalid_email',
    hint: expect.stringContaining('name@example.org'),
    resource: 'http://127.0.0.1:3000',
    guide: '# ',
  })
  expect((await runCommand(['count'], { folder: service.folder })).stdout).toBe('1\n')
})

/** Compiles files with the strictest options. Returns the errors. */
async function compile(...files: readonly string[]): Promise<string[]> {
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess']
  const modules = ['--module', 'nodenext', '--target', 'esnext', '--allowImportingTsExtensions']
  const speed = ['--noEmit', '--skipLibCheck', '--types', 'node']
  const printed = await run('typescript/bin/tsc', ...strict, ...modules, ...speed, ...files)
  return printed.split('\n').filter((line) => line.includes('error TS'))
}

/** Runs a program in the folder of the client. Returns its output. @param program an absolute path, or one in node_modules */
async function run(program: string, ...args: readonly string[]): Promise<string> {
  const child = Bun.spawn([process.execPath, resolve(MODULES, program), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  return await child.stdout.text()
}
