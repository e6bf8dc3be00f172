/** The description of several sites: it is valid, complete, and matches its own examples. */

import { describe, expect, test } from 'bun:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import type { oas31 } from 'openapi3-ts'
import { parse } from 'yaml'
import { parseSite } from '../../../src/config/site-file.ts'
import { createLinkField } from '../../../src/documents/links.ts'
import { createDescription, toJson, toYaml } from '../../../src/documents/openapi/description.ts'
import { PROBLEMS, toErrorBody } from '../../../src/errors.ts'
import { DOCUMENTS, ENDPOINT, listDocuments, PREFLIGHT_OPERATION_ID } from '../../../src/routes.ts'
import { createAjv, createAnswerCheck, dereference, examplesOf } from '../../support/response-check.ts'

const CONTACTS = ['', 'contact: mailto:owner%2Bsite@example.org?subject=Hi', 'contact: https://example.org/us']
const BASE_URL = 'https://www.list.example'
const ORIGINS = ['https://www.example.org', 'https://example.net']

const VARIANTS = [
  { text: '', baseUrl: BASE_URL, corsOrigins: [] },
  { text: '', baseUrl: BASE_URL, corsOrigins: ORIGINS },
  { text: '', baseUrl: 'http://list.example:3000', corsOrigins: [] },
  { text: '', baseUrl: 'http://list.example:3000', corsOrigins: ORIGINS },
  { text: CONTACTS[1]!, baseUrl: BASE_URL, corsOrigins: [] },
  { text: CONTACTS[1]!, baseUrl: BASE_URL, corsOrigins: ORIGINS },
  { text: CONTACTS[1]!, baseUrl: 'http://list.example:3000', corsOrigins: [] },
  { text: CONTACTS[2]!, baseUrl: 'http://[::1]:3000', corsOrigins: ['*'] },
]

describe.each(VARIANTS)('the description with $text, $baseUrl, $corsOrigins', ({ text, ...rest }) => {
  const options = { site: parseSite(text, 'site.yaml'), ...rest }
  const description = createDescription(options)
  const whole = dereference<oas31.OpenAPIObject>(description)

  test('has no lint errors', async () => {
    expect(await lint(toJson(description))).toEqual([])
    expect(await lint(toYaml(description))).toEqual([])
  })

  test('is the same in JSON, YAML 1.2 and YAML 1.1', () => {
    const json: unknown = JSON.parse(toJson(description))
    expect(parse(toYaml(description))).toEqual(json)
    expect(parse(toYaml(description), { version: '1.1' })).toEqual(json)
  })

  test('has the operations of the table, without security', () => {
    const names = listDocuments(options.site)
    expect(Object.keys(whole.paths!)).toEqual([ENDPOINT.path, ...names.map((name) => DOCUMENTS[name].path)])
    expect(operationsOf(whole).map(({ operationId }) => operationId)).toEqual([
      ENDPOINT.operationId,
      ...(options.corsOrigins.length > 0 ? [PREFLIGHT_OPERATION_ID] : []),
      ...names.map((name) => DOCUMENTS[name].operationId),
    ])
    for (const { security, tags, summary, description } of operationsOf(whole)) {
      expect(security).toEqual([])
      expect(whole.tags!.map(({ name }) => name)).toContain(tags![0]!)
      expect([summary, description]).not.toContain(undefined)
    }
    expect(whole.components!.securitySchemes).toBeUndefined()
    expect(whole.servers).toEqual([{ url: options.baseUrl }])
  })

  test('has a valid example for every body, and one for every error', () => {
    const ajv = createAjv()
    for (const { schema, examples } of contentsOf(whole)) {
      expect(examples.length).toBeGreaterThan(0)
      const validate = ajv.compile(schema)
      for (const [name, value] of examples) {
        expect({ name, valid: validate(value), errors: validate.errors }).toMatchObject({ valid: true })
      }
    }
    const { responses } = whole.paths![ENDPOINT.path]!.post!
    for (const [reason, problem] of Object.entries(PROBLEMS)) {
      if (reason === 'read_only') continue
      const content = responses![problem.status].content['application/json']
      expect(content.examples[reason].value).toEqual(toErrorBody(problem))
    }
  })

  test('accepts its own examples as responses, and nothing else', () => {
    const check = createAnswerCheck(description)
    for (const [path, item] of Object.entries(whole.paths!)) {
      for (const [verb, { responses }] of Object.entries(item) as [string, oas31.OperationObject][]) {
        for (const [status, response] of Object.entries(responses!)) {
          for (const sent of toAnswers(response)) {
            const answer = { method: verb.toUpperCase(), path, status: Number(status), ...sent }
            check(answer)
            expect(() => check({ ...answer, status: 418 })).toThrow('the status is not one of')
            expect(() => check({ ...answer, headers: new Headers({ 'Content-Type': 'text/html' }) })).toThrow()
            expect(() => check({ ...answer, body: `x${answer.body}` })).toThrow()
          }
        }
      }
    }
  })
})

test('the 200 of the endpoint is not a reference, because swagger-typescript-api does not follow it', () => {
  const { paths } = createDescription({ site: parseSite('', 'site.yaml'), baseUrl: BASE_URL, corsOrigins: [] })
  expect(paths![ENDPOINT.path]!.post!.responses!['200'].content).toHaveProperty('application/json')
})

test('the contact has an address if there is one', () => {
  const contacts = CONTACTS.map((text) => {
    const site = parseSite(text, 'site.yaml')
    return createDescription({ site, baseUrl: BASE_URL, corsOrigins: [] }).info.contact
  })
  const name = 'Newsletter'
  expect(contacts).toEqual([
    { name },
    { name, email: 'owner+site@example.org' },
    { name, url: 'https://example.org/us' },
  ])
})

test('the response check covers HEAD, other methods and other paths', () => {
  const site = parseSite('', 'site.yaml')
  const check = createAnswerCheck(createDescription({ site, baseUrl: BASE_URL, corsOrigins: [] }))
  const json = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
  const refused = {
    status: 405,
    headers: new Headers({ ...json, Allow: 'POST' }),
    body: JSON.stringify(toErrorBody(PROBLEMS.post_only)),
  }
  const lost = {
    status: 404,
    headers: new Headers({ ...json, Link: createLinkField(BASE_URL) }),
    body: JSON.stringify(toErrorBody(PROBLEMS.no_such_path)),
  }
  const moved = { status: 308, headers: new Headers({ Location: `${BASE_URL}/?a` }), body: '' }

  check({ ...refused, method: 'OPTIONS', path: ENDPOINT.path })
  check({ ...refused, method: 'HEAD', path: `${ENDPOINT.path}?a=b`, body: '' })
  check({ ...lost, method: 'GET', path: '/nowhere' })
  check({ ...lost, method: 'HEAD', path: '/nowhere', body: new Uint8Array() })
  check({ ...moved, method: 'BREW', path: '/nowhere' })
  check({ ...moved, method: 'DELETE', path: ENDPOINT.path })

  const wrong = [
    { ...refused, method: 'HEAD', path: ENDPOINT.path },
    { ...refused, method: 'DELETE', path: DOCUMENTS.llmsTxt.path },
    { ...refused, method: 'DELETE', path: ENDPOINT.path, headers: new Headers(json) },
    { ...refused, method: 'GET', path: '/nowhere' },
    { ...lost, method: 'DELETE', path: ENDPOINT.path },
    { ...lost, method: 'POST', path: ENDPOINT.path, body: refused.body },
    {
      ...moved,
      method: 'GET',
      path: '/',
      headers: new Headers({ Location: 'https://www.list.example.evil/' }),
    },
  ]
  for (const answer of wrong) expect(() => check(answer)).toThrow(`${answer.method} ${answer.path} answered`)
})

async function lint(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended-strict'] })
  const problems = await lintFromString({ source, absoluteRef: '/openapi.yaml', config })
  return problems.map(({ severity, ruleId, message, location }) => {
    return `${severity} ${ruleId}: ${message} ${location.map(({ pointer }) => pointer).join(' ')}`
  })
}

function operationsOf({ paths = {} }: oas31.OpenAPIObject): oas31.OperationObject[] {
  return Object.values(paths).flatMap((item) => Object.values(item) as oas31.OperationObject[])
}

/** Lists the content of every request and response, with its examples. */
function contentsOf(whole: oas31.OpenAPIObject) {
  const bodies = operationsOf(whole).flatMap(({ requestBody, responses = {} }) => [
    requestBody as oas31.RequestBodyObject | undefined,
    ...(Object.values(responses) as oas31.ResponseObject[]),
  ])
  return bodies
    .flatMap((body) => Object.values(body?.content ?? {}))
    .map((content) => ({ schema: content.schema!, examples: examplesOf(content) }))
}

/** Converts the examples of a response to responses. */
function toAnswers({ headers = {}, content = {} }: oas31.ResponseObject) {
  const sent = Object.entries(headers as Record<string, oas31.HeaderObject>).map(
    ([name, { example }]): [string, string] => [name, example],
  )
  if (Object.keys(content).length === 0) return [{ headers: new Headers(sent), body: '' }]
  return Object.entries(content).flatMap(([mediaType, media]) =>
    examplesOf(media).map(([, value]) => ({
      headers: new Headers([...sent, ['Content-Type', mediaType]]),
      body: typeof value === 'string' ? value : JSON.stringify(value),
    })),
  )
}
