/**
 * The public contract, from docs/openapi.json, which is its only literal copy. Nothing here comes from src/: a changed
 * code, status, header or text in src/ must fail a test. Only types are imported.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { oas31 } from 'openapi3-ts'
import type { ErrorReason } from '../../src/errors.ts'
import type { DocumentName } from '../../src/routes.ts'
import { ROOT } from './paths.ts'
import { dereference, examplesOf } from './response-check.ts'

/** The description of a default site, as it is checked in. */
export const GOLDEN: oas31.OpenAPIObject = JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8'))

/** A path, and the Content-Type of its 200. */
export interface ContractResource {
  readonly path: string
  readonly mediaType: string
}

/** A response of the JSON contract. */
export interface ContractResponse {
  readonly status: number
  readonly allow: string | null
  readonly body: string
}

export const ENDPOINT: ContractResource = toResource('/api/newsletter')

export const DOCUMENTS: Readonly<Record<DocumentName, ContractResource>> = {
  openApiJson: toResource('/openapi.json'),
  openApiYaml: toResource('/openapi.yaml', '; charset=utf-8'),
  llmsTxt: toResource('/llms.txt', '; charset=utf-8'),
  sitemap: toResource('/sitemap.xml'),
  protectedResource: toResource('/.well-known/oauth-protected-resource'),
  robots: toResource('/robots.txt', '; charset=utf-8'),
  apiCatalog: toResource('/.well-known/api-catalog', '; profile="https://www.rfc-editor.org/info/rfc9727"'),
}

/** Bytes that a request body may have. */
export const MAX_BODY_BYTES = 16_384

/** Milliseconds that a request body may take. */
export const BODY_DEADLINE_MS = 10_000

/** The response to each case: an accepted address, and everything that can be wrong with a request. */
export const RESPONSES = listResponses()

/** The keys of the description have no parameters; the responses have. */
function toResource(path: string, parameters = ''): ContractResource {
  const { get, post } = GOLDEN.paths?.[path] ?? {}
  const [mediaType = ''] = Object.keys((get ?? post)?.responses?.['200'].content ?? {})
  return { path, mediaType: mediaType + parameters }
}

/** Lists the responses by the names of their examples. Documents have `read_only`; only a proxy sends `rate_limited`. */
function listResponses(): Readonly<Record<ErrorReason | 'accepted' | 'rate_limited', ContractResponse>> {
  const { paths } = dereference(GOLDEN)
  const rows = [paths[DOCUMENTS.llmsTxt.path]?.get, paths[ENDPOINT.path]?.post].flatMap((operation) =>
    Object.entries(operation?.responses ?? {}).flatMap(([status, { headers, content }]) =>
      examplesOf(content?.['application/json'] ?? {}).map(([name, value]) => [
        name,
        { status: Number(status), allow: headers?.Allow?.example ?? null, body: JSON.stringify(value) },
      ]),
    ),
  )
  return Object.fromEntries(rows)
}
