/**
 * The public contract in literal values. No expectation comes from a table of src/, so a changed table fails here.
 * A change that can break a caller needs a new `info.version`.
 */

import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { oas31 } from 'openapi3-ts'
import { readConfig } from '../../../src/config/config.ts'
import { parseSite } from '../../../src/config/site-file.ts'
import { createDescription, toJson } from '../../../src/documents/openapi/description.ts'
import { ERROR_CODES, PROBLEMS, toErrorBody } from '../../../src/errors.ts'
import { ROOT } from '../../support/paths.ts'
import { dereference } from '../../support/response-check.ts'

test('the description of a default site equals docs/openapi.json', async () => {
  const golden = await Bun.file(join(ROOT, 'docs/openapi.json')).text()
  expect(
    toJson(createDescription(readConfig({ SITE_FILE: '/dev/null' }))),
    'The description has changed. If this can break a caller, the contract needs a new info.version (CONTRIBUTING.md). ' +
      'Then run `npm run openapi` and commit docs/openapi.json.',
  ).toBe(golden)
})

const config = { baseUrl: 'https://www.list.example', corsOrigins: ['https://www.example.org'] }
const site = parseSite('contact: https://www.list.example/contact', 'site.yaml')
const description = dereference<oas31.OpenAPIObject>(createDescription({ ...config, site }))

test('the versions, the server, and no security', () => {
  expect(description.openapi).toBe('3.1.0')
  expect(description.info.version).toBe('1.0.0')
  expect(description.servers).toEqual([{ url: 'https://www.list.example' }])
  expect(description.security).toBeUndefined()
  expect(description.components?.securitySchemes).toBeUndefined()
})

describe('the operations', () => {
  const DOCUMENT = ['200', '304', '308', '404', '405', '500']
  const OPERATIONS = [
    {
      operation: 'post /api/newsletter',
      operationId: 'subscribeToNewsletter',
      statuses: ['200', '308', '400', '404', '405', '408', '413', '415', '500'],
      mediaType: 'application/json',
    },
    {
      operation: 'options /api/newsletter',
      operationId: 'preflightNewsletter',
      statuses: ['204', '308', '404', '405', '500'],
      mediaType: undefined,
    },
    {
      operation: 'get /openapi.json',
      operationId: 'getOpenApiJson',
      statuses: DOCUMENT,
      mediaType: 'application/json',
    },
    {
      operation: 'get /openapi.yaml',
      operationId: 'getOpenApiYaml',
      statuses: DOCUMENT,
      mediaType: 'text/yaml; charset=utf-8',
    },
    {
      operation: 'get /llms.txt',
      operationId: 'getLlmstxt',
      statuses: DOCUMENT,
      mediaType: 'text/markdown; charset=utf-8',
    },
    {
      operation: 'get /sitemap.xml',
      operationId: 'getSitemap',
      statuses: DOCUMENT,
      mediaType: 'application/xml',
    },
    {
      operation: 'get /.well-known/oauth-protected-resource',
      operationId: 'getProtectedResourceMetadata',
      statuses: DOCUMENT,
      mediaType: 'application/json',
    },
    {
      operation: 'get /robots.txt',
      operationId: 'getRobots',
      statuses: DOCUMENT,
      mediaType: 'text/plain; charset=utf-8',
    },
    {
      operation: 'get /.well-known/api-catalog',
      operationId: 'getApiCatalog',
      statuses: DOCUMENT,
      mediaType: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    },
    {
      operation: 'get /.well-known/security.txt',
      operationId: 'getSecurityTxt',
      statuses: DOCUMENT,
      mediaType: 'text/plain; charset=utf-8',
    },
  ]

  test('have these paths, ids, statuses and media types', () => {
    const operations = listOperations().map(({ operation, operationId, responses }) => {
      const found = responses['200'] ?? responses['204']
      const [mediaType] = Object.keys(found?.content ?? {})
      return { operation, operationId, statuses: Object.keys(responses), mediaType }
    })
    expect(operations).toEqual(OPERATIONS)
  })

  test('need no security', () => {
    expect(listOperations().map(({ security }) => security)).toEqual(OPERATIONS.map(() => []))
  })
})

describe('the schemas', () => {
  test('have these names', () => {
    expect(Object.keys(description.components?.schemas ?? {})).toEqual(['Subscription', 'Accepted', 'Error', 'Code'])
  })

  test('of the request: an object with one required member, an address', () => {
    expect(description.components?.schemas?.Subscription).toMatchObject({
      type: 'object',
      required: ['email'],
      additionalProperties: true,
      properties: {
        email: {
          type: 'string',
          format: 'email',
          maxLength: 254,
          pattern:
            "^\\s*(?=\\S{3,254}\\s*$)(?=[^@]{1,64}@)[A-Za-z0-9!#$%&'*+\\/=?^_`\\{\\|\\}~\\-]+(?:\\.[A-Za-z0-9!#$%&'*+\\/=?^_`\\{\\|\\}~\\-]+)*@(?:[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?\\.)+(?![0-9]+\\s*$)[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?\\s*$",
        },
      },
    })
  })

  test('of a success: {"ok":true} and nothing else', () => {
    expect(description.components?.schemas?.Accepted).toMatchObject({
      required: ['ok'],
      additionalProperties: false,
      properties: { ok: { type: 'boolean', const: true } },
    })
  })

  test('of an error: {"ok":false,"message":CODE,"error":{"code":CODE,"message":TEXT,"hint":TEXT}}', () => {
    expect(description.components?.schemas?.Error).toMatchObject({
      required: ['ok', 'message', 'error'],
      additionalProperties: false,
      properties: {
        ok: { type: 'boolean', const: false },
        error: { required: ['code', 'message', 'hint'], additionalProperties: false },
      },
    })
    expect(JSON.stringify(toErrorBody(PROBLEMS.no_such_path))).toBe(
      '{"ok":false,"message":"not_found","error":{"code":"not_found","message":"There is nothing at this path.","hint":"Read /openapi.json for all paths, /llms.txt for a guide, or /sitemap.xml for all pages."}}',
    )
  })
})

describe('the errors', () => {
  test('have these codes and no others', () => {
    const codes = ['invalid_email', 'invalid_body', 'method_not_allowed', 'not_found', 'storage_failure']
    expect<readonly string[]>(ERROR_CODES).toEqual(codes)
    expect(description.components?.schemas?.Code).toMatchObject({ type: 'string', enum: codes })
  })

  test('have these statuses and codes', () => {
    const found = Object.entries(PROBLEMS).map(([reason, { status, code }]) => [reason, status, code])
    expect(found).toEqual([
      ['missing', 400, 'invalid_email'],
      ['not_a_string', 400, 'invalid_email'],
      ['empty', 400, 'invalid_email'],
      ['too_long', 400, 'invalid_email'],
      ['display_name', 400, 'invalid_email'],
      ['several', 400, 'invalid_email'],
      ['non_ascii_domain', 400, 'invalid_email'],
      ['non_ascii', 400, 'invalid_email'],
      ['malformed', 400, 'invalid_email'],
      ['no_body', 400, 'invalid_body'],
      ['malformed_json', 400, 'invalid_body'],
      ['not_an_object', 400, 'invalid_body'],
      ['slow_body', 408, 'invalid_body'],
      ['large_body', 413, 'invalid_body'],
      ['media_type', 415, 'invalid_body'],
      ['post_only', 405, 'method_not_allowed'],
      ['read_only', 405, 'method_not_allowed'],
      ['no_such_path', 404, 'not_found'],
      ['store_failed', 500, 'storage_failure'],
    ])
  })

  test('of each operation have the code of their status', () => {
    const codes = listOperations().flatMap(({ operation, responses }) =>
      Object.entries(responses).flatMap(([status, { content = {} }]) =>
        listMessageCodes(content['application/json']).map((code) => `${operation} ${status} ${code}`),
      ),
    )
    const ofDocument = (operation: string) => [
      `${operation} 404 not_found`,
      `${operation} 405 method_not_allowed`,
      `${operation} 500 storage_failure`,
    ]
    expect(codes).toEqual([
      'post /api/newsletter 400 invalid_email',
      'post /api/newsletter 400 invalid_body',
      'post /api/newsletter 404 not_found',
      'post /api/newsletter 405 method_not_allowed',
      'post /api/newsletter 408 invalid_body',
      'post /api/newsletter 413 invalid_body',
      'post /api/newsletter 415 invalid_body',
      'post /api/newsletter 500 storage_failure',
      ...[
        'options /api/newsletter',
        'get /openapi.json',
        'get /openapi.yaml',
        'get /llms.txt',
        'get /sitemap.xml',
        'get /.well-known/oauth-protected-resource',
        'get /robots.txt',
        'get /.well-known/api-catalog',
        'get /.well-known/security.txt',
      ].flatMap(ofDocument),
    ])
  })
})

describe('the headers', () => {
  const NO_STORE = { 'Cache-Control': 'no-store' }
  const LINK =
    '<https://www.list.example/openapi.json>; rel="service-desc"; type="application/json", ' +
    '<https://www.list.example/llms.txt>; rel="service-doc"; type="text/markdown", ' +
    '<https://www.list.example/llms.txt>; rel="describedby"; type="text/markdown", ' +
    '<https://www.list.example/.well-known/api-catalog>; rel="api-catalog"; type="application/linkset+json", ' +
    '<https://www.list.example/sitemap.xml>; rel="sitemap"; type="application/xml"'
  const DOCUMENT = {
    'Cache-Control': 'public, max-age=300',
    'Access-Control-Allow-Origin': '*',
    Link: LINK,
  }

  test('of the endpoint have these constants', () => {
    expect(listConstants('/api/newsletter', 'post')).toEqual({
      '200': NO_STORE,
      '308': {},
      '400': NO_STORE,
      '404': { Link: LINK },
      '405': { Allow: 'POST', ...NO_STORE },
      '408': NO_STORE,
      '413': NO_STORE,
      '415': NO_STORE,
      '500': {},
    })
  })

  test('of a document have these constants', () => {
    expect(listConstants('/llms.txt', 'get')).toEqual({
      '200': DOCUMENT,
      '304': DOCUMENT,
      '308': {},
      '404': { Link: LINK },
      '405': { Allow: 'GET, HEAD' },
      '500': {},
    })
  })

  test('of a document include ETag and Vary, and may include Content-Encoding', () => {
    const { ETag, Vary, 'Content-Encoding': coding } = headersOf('/llms.txt', 'get', '200')
    expect(ETag).toMatchObject({ required: true, schema: { type: 'string', pattern: '^"[^"]+"$' } })
    expect(Vary).toMatchObject({ required: true, example: 'Accept-Encoding' })
    expect(coding).toMatchObject({ schema: { enum: ['br', 'gzip'] } })
    expect(coding).not.toHaveProperty('required')
  })

  test('of a redirect lead to the canonical host', () => {
    expect(headersOf('/llms.txt', 'get', '308').Location).toMatchObject({
      required: true,
      schema: { pattern: '^https://www\\.list\\.example/' },
    })
  })

  test('of a preflight are required', () => {
    expect(headersOf('/api/newsletter', 'options', '204')).toMatchObject({
      'Access-Control-Allow-Origin': { required: true },
      'Access-Control-Allow-Methods': { required: true, example: 'POST' },
      'Access-Control-Allow-Headers': { required: true, example: 'Content-Type' },
    })
  })
})

/** Lists all operations, each with its method and path. */
function listOperations() {
  return Object.entries(description.paths ?? {}).flatMap(([path, item]: [string, oas31.PathItemObject]) =>
    Object.entries(item).map(([method, operation]: [string, oas31.OperationObject]) => ({
      ...operation,
      operation: `${method} ${path}`,
      responses: (operation.responses ?? {}) as Record<string, oas31.ResponseObject>,
    })),
  )
}

/** Lists the codes that the schema of an error allows in `message`. */
function listMessageCodes(media: oas31.MediaTypeObject | undefined): readonly string[] {
  const [, narrowed] = (media?.schema as oas31.SchemaObject | undefined)?.allOf ?? []
  const message = (narrowed as oas31.SchemaObject | undefined)?.properties?.message
  return (message as oas31.SchemaObject | undefined)?.enum ?? []
}

/** Returns the headers of a response. */
function headersOf(path: string, method: string, status: string): Record<string, oas31.HeaderObject> {
  const operation = listOperations().find((candidate) => candidate.operation === `${method} ${path}`)
  return (operation?.responses[status]?.headers ?? {}) as Record<string, oas31.HeaderObject>
}

/** Returns the required headers with a constant value, for each status of an operation. */
function listConstants(path: string, method: string) {
  const operation = listOperations().find((candidate) => candidate.operation === `${method} ${path}`)
  return Object.fromEntries(
    Object.keys(operation?.responses ?? {}).map((status) => {
      const constants = Object.entries(headersOf(path, method, status)).flatMap(([name, header]) => {
        const { const: value } = header.schema as oas31.SchemaObject
        return header.required && value !== undefined ? [[name, value]] : []
      })
      return [status, Object.fromEntries(constants)]
    }),
  )
}
