/** Clients that generators write from the description: they compile, refuse wrong calls, and can subscribe. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rm, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { DOCUMENTS } from '../support/contract.ts'
import { ROOT, toSupportFile } from '../support/paths.ts'
import { createFolder, type RunningService, runCommand, startService } from '../support/service.ts'

const MODULES = resolve(ROOT, 'node_modules')

/** A program that uses a generated client. Its argument is the origin of the service. */
interface Program {
  /** Declares `ok`, `code`, `hint`, `resource` and `description` with their types, from four calls. */
  readonly text: string
  /** Wrong statements, which must not compile. */
  readonly mistakes: readonly string[]
}

const PROGRAMS: Readonly<Record<string, Program>> = {
  'openapi-typescript': {
    text: `
import createClient from 'openapi-fetch'
import type { components, paths } from './openapi-typescript.ts'

const client = createClient<paths>({ baseUrl: process.argv[2] ?? '' })
type Code = components['schemas']['Code']

const accepted = await client.POST('/api/newsletter', { body: { email: ' openapi-typescript@example.org ' } })
const ok: true | undefined = accepted.data?.ok
const refused = await client.POST('/api/newsletter', { body: { email: 'nobody' } })
const code: Code | undefined = refused.error?.message
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
  },
  'hey-api': {
    text: `
import { type Code, getApiCatalog, getProtectedResourceMetadata, subscribeToNewsletter } from './hey-api/index.ts'
import { client } from './hey-api/client.gen.ts'

client.setConfig({ baseUrl: process.argv[2] ?? '' })

const accepted = await subscribeToNewsletter({ body: { email: ' hey-api@example.org ' } })
const ok: true | undefined = accepted.data?.ok
const refused = await subscribeToNewsletter({ body: { email: 'nobody' } })
const code: Code | undefined = refused.error?.message
const hint: string | undefined = refused.error?.error.hint
const metadata = await getProtectedResourceMetadata()
const resource: string | undefined = metadata.data?.resource
const catalog = await getApiCatalog()
const description: string | undefined = catalog.data?.linkset[1]?.['service-desc']?.[0]?.href
`,
    mistakes: [
      `subscribeToNewsletter({ body: { email: 1 } })`,
      `subscribeToNewsletter({ body: { mail: 'a@example.org' } })`,
      `subscribeToNewsletter()`,
    ],
  },
  orval: {
    text: `
import { type Code, getApiCatalog, getProtectedResourceMetadata, subscribeToNewsletter } from './orval.ts'

const accepted = await subscribeToNewsletter({ email: ' orval@example.org ' })
const ok: true | undefined = accepted.status === 200 ? accepted.data.ok : undefined
const refused = await subscribeToNewsletter({ email: 'nobody' })
const code: Code | undefined = refused.status === 400 ? refused.data.message : undefined
const hint: string | undefined = refused.status === 400 ? refused.data.error.hint : undefined
const metadata = await getProtectedResourceMetadata()
const resource: string | undefined = metadata.status === 200 ? metadata.data.resource : undefined
const catalog = await getApiCatalog()
const description: string | undefined =
  catalog.status === 200 ? catalog.data.linkset[1]?.['service-desc']?.[0]?.href : undefined
`,
    mistakes: [
      `subscribeToNewsletter({ email: 1 })`,
      `subscribeToNewsletter({ mail: 'a@example.org' })`,
      `subscribeToNewsletter()`,
    ],
  },
}

const PRINT = 'console.log(JSON.stringify({ ok, code, hint, resource, description }))\n'
const UNKNOWN_CODE = `export const other: Code = 'rate_limited'`

let service: RunningService
let folder: string
beforeAll(async () => {
  service = await startService()
  folder = await createFolder()
  await symlink(MODULES, join(folder, 'node_modules'))
  await Bun.write(join(folder, 'openapi.json'), (await service.request(DOCUMENTS.openApiJson.path)).body)
  await run(toSupportFile('client-generators.ts'), 'openapi.json', service.origin, folder)
  for (const [name, { text, mistakes }] of Object.entries(PROGRAMS)) {
    await Bun.write(join(folder, `${name}.mts`), text + PRINT)
    await Bun.write(join(folder, `${name}-mistakes.mts`), [text + PRINT, ...mistakes, UNKNOWN_CODE].join('\n'))
  }
})
afterAll(async () => {
  await service.stop()
  await rm(folder, { recursive: true })
})

test('the clients compile, and wrong calls do not', async () => {
  const names = Object.keys(PROGRAMS)
  const found = await compile(names.flatMap((name) => [`${name}.mts`, `${name}-mistakes.mts`]))
  const places = found.map((error) => error.replace(/^(\S+)\((\d+),.*/, '$1:$2'))
  expect([...new Set(places)].sort()).toEqual(names.flatMap(listMistakes).sort())
})

describe('a client subscribes, gets a typed error, and reads documents', () => {
  test.each(Object.keys(PROGRAMS))('%s', async (name) => {
    expect(JSON.parse(await run(join(folder, `${name}.mts`), service.origin))).toEqual({
      ok: true,
      code: 'invalid_email',
      hint: expect.stringContaining('name@example.org'),
      resource: 'http://127.0.0.1:3000',
      description: 'http://127.0.0.1:3000/openapi.json',
    })
  })

  test('and the list has one address of each', async () => {
    const { stdout } = await runCommand(['export', '--format', 'txt', '--include-reserved'], { folder: service.folder })
    expect(stdout.split('\n').filter(Boolean).sort()).toEqual(
      Object.keys(PROGRAMS)
        .map((name) => `${name}@example.org`)
        .sort(),
    )
  })
})

/** Lists the places of the mistakes of a program, as FILE:LINE. */
function listMistakes(name: string): string[] {
  const { text, mistakes } = PROGRAMS[name]!
  const first = (text + PRINT).split('\n').length + 1
  return [...mistakes, UNKNOWN_CODE].map((_, index) => `${name}-mistakes.mts:${first + index}`)
}

/** Checks the types of files in one run. Returns the errors. */
async function compile(files: readonly string[]): Promise<string[]> {
  const compilerOptions = {
    strict: true,
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'esnext',
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
  }
  await Bun.write(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  const { stdout } = Bun.spawnSync([process.execPath, 'check'], { cwd: folder, stderr: 'ignore' })
  return stdout
    .toString()
    .split('\n')
    .filter((line) => line.includes('error TS'))
}

/** Runs a program in the folder of the clients. Returns its output. */
async function run(...args: readonly string[]): Promise<string> {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  return await child.stdout.text()
}
