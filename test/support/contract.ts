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

/** The description of a default site, as it is checked in. */
export const GOLDEN: oas31.OpenAPIObject = JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8'))

/** A path with what its 200 is. */
export interface ContractResource {
  readonly path: string
  readonly operationId: string
  readonly mediaType: string
}

/** A response of the JSON contract. */
export interface ContractResponse {
  readonly status: number
  readonly allow: string | null
  readonly body: string
}

export const ENDPOINT: ContractResource = toResource('/api/newsletter', 'post')

export const DOCUMENTS: Readonly<Record<DocumentName, ContractResource>> = {
  openApiJson: toResource('/openapi.json'),
  openApiYaml: toResource('/openapi.yaml'),
  llmsTxt: toResource('/llms.txt'),
  sitemap: toResource('/sitemap.xml'),
  protectedResource: toResource('/.well-known/oauth-protected-resource'),
  robots: toResource('/robots.txt'),
  apiCatalog: toResource('/.well-known/api-catalog'),
  // A site without a contact has none.
  securityTxt: {
    path: '/.well-known/security.txt',
    operationId: 'getSecurityTxt',
    mediaType: 'text/plain; charset=utf-8',
  },
}

/** Bytes that a request body may have. */
export const MAX_BODY_BYTES = 16_384

/** Milliseconds that a request body may take. */
export const BODY_DEADLINE_MS = 10_000

/** The response to each case: an accepted address, and everything that can be wrong with a request. */
export const RESPONSES = listResponses()

function toResource(path: string, method: 'get' | 'post' = 'get'): ContractResource {
  const { operationId = '', responses } = GOLDEN.paths?.[path]?.[method] ?? {}
  const [mediaType = ''] = Object.keys(responses?.['200'].content ?? {})
  return { path, operationId, mediaType }
}

/** Lists the responses by the names of their examples. `read_only` is the only one that the endpoint does not have. */
function listResponses(): Readonly<Record<ErrorReason | 'accepted', ContractResponse>> {
  const { responses = {}, headers = {}, examples = {} } = GOLDEN.components ?? {}
  const { post } = GOLDEN.paths?.[ENDPOINT.path] ?? {}
  const { get } = GOLDEN.paths?.[DOCUMENTS.llmsTxt.path] ?? {}
  const found = [...Object.entries(get?.responses ?? {}), ...Object.entries(post?.responses ?? {})]
  const rows = found.flatMap(([status, reference]: [string, oas31.ReferenceObject & oas31.ResponseObject]) => {
    const response = (reference.$ref ? responses[toName(reference)] : reference) as oas31.ResponseObject
    const { examples: names = {} } = response.content?.['application/json'] ?? {}
    const allow = response.headers?.Allow as oas31.ReferenceObject | undefined
    const header = allow && (headers[toName(allow)] as oas31.HeaderObject)
    return Object.keys(names).map((name) => {
      const { value } = examples[name] as oas31.ExampleObject
      return [name, { status: Number(status), allow: header?.example ?? null, body: JSON.stringify(value) }]
    })
  })
  return Object.fromEntries(rows)
}

function toName({ $ref }: oas31.ReferenceObject): string {
  return $ref.slice($ref.lastIndexOf('/') + 1)
}
