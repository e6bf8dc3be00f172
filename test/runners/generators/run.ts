/**
 * `npm run test:only -- generators`: programs that nobody here wrote, on the description that the service serves: two
 * generators of clients, Spectral with the rules of OWASP, respect and Portman, which call every operation, and Prism, which
 * checks requests and responses between a client and the service. They need 700 packages, which have a lock file of their own here.
 */

import { afterAll, beforeAll, expect, onTestFinished, test } from 'bun:test'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { DOCUMENTS } from '../../support/contract.ts'
import { type ClientProgram, checkClient, runProgram } from '../../support/generated-client.ts'
import { type RunningService, startService } from '../../support/service.ts'
import { until } from '../../support/wait.ts'
import { createFolder, findPort } from '../../support/workspace.ts'

const CLIENTS: readonly ClientProgram[] = [
  {
    name: 'hey-api-program',
    text: `
import { type Code, getApiCatalog, getProtectedResourceMetadata, subscribeToNewsletter } from './hey-api/index.ts'
import { client } from './hey-api/client.gen.ts'

client.setConfig({ baseUrl: process.argv[2] ?? '' })

const accepted = await subscribeToNewsletter({ body: { email: ' hey-api@example.org ' } })
const ok: true | undefined = accepted.data?.ok
const refused = await subscribeToNewsletter({ body: { email: 'nobody' } })
const code: Code | 'rate_limited' | undefined = refused.error?.message
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
  {
    name: 'orval-program',
    text: `
import { type Code, getApiCatalog, getProtectedResourceMetadata, subscribeToNewsletter } from './orval.ts'

const accepted = await subscribeToNewsletter({ email: ' orval@example.org ' })
const ok: true | undefined = accepted.status === 200 ? accepted.data.ok : undefined
const refused = await subscribeToNewsletter({ email: 'nobody' })
const code: Code | 'rate_limited' | undefined = refused.status === 400 ? refused.data.message : undefined
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
]

/** Rules of Spectral that do not apply: the rule, the places (by default all), and the reason. */
const EXCEPTIONS: readonly { readonly rule: string; readonly at?: RegExp; readonly reason: string }[] = [
  { rule: 'owasp:api2:2023-read-restricted', reason: 'The documents are public.' },
  { rule: 'owasp:api2:2023-write-restricted', reason: 'Everybody may subscribe. There are no accounts.' },
  { rule: 'owasp:api8:2023-define-error-responses-401', reason: 'There are no accounts, so nothing gets a 401.' },
  {
    rule: 'owasp:api4:2023-rate-limit-responses-429',
    at: /\.get\.responses$/,
    reason: 'The files for proxies limit only what is posted.',
  },
  { rule: 'owasp:api4:2023-rate-limit', reason: 'There is no rate limit. A proxy may have one.' },
  {
    rule: 'owasp:api4:2023-string-limit',
    at: /\.(parameters|headers)\.|\.get\.responses\.200\.content\.|\.(responses\.308|CanonicalHost)\.content\./,
    reason:
      'The HTTP server limits all headers together, and so the URL of a redirect. The length of a document depends on the site file.',
  },
  {
    rule: 'owasp:api4:2023-string-restricted',
    at: /\.error\.properties\.(message|hint)$|\.(parameters|headers)\.|\.scopes_supported\.items$/,
    reason: 'A text for people has no format, and a request may have any header. The list of scopes is empty.',
  },
  { rule: 'owasp:api8:2023-define-cors-origin', reason: 'Only documents are for pages of any origin.' },
  {
    rule: 'owasp:api8:2023-define-error-validation',
    at: /\.get\.responses$/,
    reason: 'These operations have no input that can be invalid.',
  },
  { rule: 'owasp:api8:2023-no-server-http', reason: 'The origin of this test.' },
  { rule: 'owasp:api9:2023-inventory-access', reason: 'The contract has one server with a URL and nothing else.' },
]

let service: RunningService
/** Its BASE_URL is where it listens. */
let live: RunningService
let folder: string
beforeAll(async () => {
  const site = 'contact: https://www.list.example/contact\n'
  service = await startService({ site })
  folder = await createFolder()
  await symlink(join(import.meta.dir, 'node_modules'), join(folder, 'node_modules'))
  await Bun.write(join(folder, 'openapi.json'), (await service.request(DOCUMENTS.openApiJson.path)).body)
  const port = findPort()
  live = await startService({ env: { PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` } })
  await Bun.write(join(folder, 'live.json'), (await live.request(DOCUMENTS.openApiJson.path)).body)
  await runProgram(folder, join(import.meta.dir, 'generate.js'), 'openapi.json', service.origin)
})
afterAll(() => Promise.all([service.stop(), live.stop()]))

test.each(CLIENTS)('$name compiles, refuses wrong calls, subscribes, and gets a typed error', async (program) => {
  await checkClient(program, folder, service.origin)
})

test('Spectral finds nothing, apart from the exceptions, and each exception is needed', async () => {
  type Finding = { readonly rule: string; readonly at: string; readonly message: string }
  const output = await runProgram(folder, join(import.meta.dir, 'lint.js'), join(folder, 'openapi.json'))
  const findings: readonly Finding[] = JSON.parse(output)
  const covers = ({ rule, at }: (typeof EXCEPTIONS)[number], finding: Finding) =>
    rule === finding.rule && (at?.test(finding.at) ?? true)
  expect(findings.filter((finding) => !EXCEPTIONS.some((exception) => covers(exception, finding)))).toEqual([])
  expect(EXCEPTIONS.filter((exception) => !findings.some((finding) => covers(exception, finding)))).toEqual([])
})

test('respect: every operation passes', async () => {
  await runTool('redocly', 'generate-arazzo', 'live.json', '-o', 'arazzo.yaml')
  expect(await runTool('redocly', 'respect', 'arazzo.yaml')).toMatch(/Workflows: (\d+) passed, \1 total/)
})

test('Portman: every response has the status, the media type, the headers and the schema that the description says', async () => {
  const checks = ['statusSuccess', 'contentType', 'jsonBody', 'schemaValidation', 'headersPresent']
  const contractTests = checks.map((name) => ({ openApiOperation: '*::/*', [name]: { enabled: true } }))
  await Bun.write(join(folder, 'portman.json'), JSON.stringify({ version: 1, tests: { contractTests }, globals: {} }))
  const options = ['--local', 'live.json', '--baseUrl', live.origin, '--portmanConfigFile', 'portman.json']
  const output = await runTool('portman', ...options, '--output', 'collection.json', '--runNewman')
  expect(output).toMatch(/assertions │ +[1-9]\d+ │ +0 │/)
})

test('Prism passes valid traffic on, and answers 422 to an address that does not match', async () => {
  const port = findPort()
  const command = ['proxy', 'live.json', live.origin, '--errors', '--port', String(port)]
  const prism = Bun.spawn(['node', toTool('prism'), ...command], { cwd: folder, stdout: 'ignore', stderr: 'ignore' })
  onTestFinished(() => prism.kill())
  const url = `http://127.0.0.1:${port}`
  const get = (path: string) => fetch(url + path).catch(() => undefined)
  await until(async () => (await get(DOCUMENTS.robots.path)) !== undefined, 'Prism listens')
  for (const { path } of Object.values(DOCUMENTS)) expect([path, (await get(path))?.status]).toEqual([path, 200])
  const post = async (email: string) => {
    const headers = { 'Content-Type': 'application/json' }
    return (await fetch(`${url}/api/newsletter`, { method: 'POST', headers, body: JSON.stringify({ email }) })).status
  }
  // The limit of the local part is in words only, so the service refuses it.
  expect(await Promise.all([post('prism@example.org'), post('nobody'), post(`${'l'.repeat(65)}@example.org`)])).toEqual(
    [200, 422, 400],
  )
})

const toTool = (name: string) => join(import.meta.dir, 'node_modules/.bin', name)

/** Runs a tool with Node in the folder. Returns what it prints. @throws Error with that when it fails */
async function runTool(name: string, ...args: readonly string[]): Promise<string> {
  const child = Bun.spawn(['node', toTool(name), ...args], { cwd: folder, stdout: 'pipe', stderr: 'pipe' })
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`${name} ${args[0]} failed:\n${output}${errors}`)
  return output + errors
}
