/** The description of several sites: it is valid, complete, and matches its own examples. */

import { describe, expect, test } from 'bun:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { oas31 } from 'openapi3-ts'
import { parse } from 'yaml'
import { readConfig } from '../../../src/config/config.ts'
import { parseSite } from '../../../src/config/site-file.ts'
import { createDescription, toYaml } from '../../../src/documents/openapi/description.ts'
import { VECTORS } from '../../addresses.ts'
import { ENDPOINT, GOLDEN } from '../../support/contract.ts'
import { createAjv, createAnswerCheck, dereference, examplesOf } from '../../support/response-check.ts'

const BASE_URL = 'https://www.list.example'

const describeSite = (text: string, baseUrl = BASE_URL) => {
  return createDescription({ site: parseSite(text, 'site.yaml'), baseUrl })
}

test('the description of a default site equals docs/openapi.json', () => {
  expect(
    createDescription(readConfig({ SITE_FILE: '/dev/null' })),
    'The description has changed. If this can break a caller, the contract needs a new info.version (docs/http.md). ' +
      'Then run `npm run openapi` and commit docs/openapi.json.',
  ).toEqual(GOLDEN)
})

test('with `license: none` the description has no license', () => {
  expect(describeSite('').info.license?.name).toBe('CC BY-SA 4.0')
  expect(describeSite('license: none').info).not.toHaveProperty('license')
})

const VARIANTS: Readonly<Record<string, oas31.OpenAPIObject>> = {
  'a default site': describeSite(''),
  'a site with a contact': describeSite('contact: mailto:owner@example.org'),
  'a site on plain http': describeSite('contact: https://example.org/us', 'http://[::1]:3000'),
}

describe.each(Object.entries(VARIANTS))('the description of %s', (_, description) => {
  const whole = dereference(description)

  test('has no lint errors', async () => {
    expect(await lint(JSON.stringify(description))).toEqual([])
  })

  test('is the same in JSON, YAML 1.2 and YAML 1.1', () => {
    const json: unknown = JSON.parse(JSON.stringify(description))
    expect(parse(toYaml(description))).toEqual(json)
    expect(parse(toYaml(description), { version: '1.1' })).toEqual(json)
  })

  test('has no security, and no operation without a tag, a summary and a description', () => {
    for (const { security, tags, summary, description } of operationsOf(whole)) {
      expect(security).toEqual([])
      expect(whole.tags!.map(({ name }) => name)).toContain(tags![0]!)
      expect([summary, description]).not.toContain(undefined)
    }
    expect(whole.security).toEqual([])
    expect(whole.components!.securitySchemes).toEqual({})
  })

  test('has media types without parameters, and no schema that hides a global of JavaScript', () => {
    const contents = Object.values(whole.paths!).flatMap((item) =>
      Object.values(item as object).flatMap(({ responses }: oas31.OperationObject) =>
        Object.values(responses!).flatMap(({ content = {} }: oas31.ResponseObject) => Object.keys(content)),
      ),
    )
    expect(contents.filter((name) => !/^[a-z]+\/[a-z+]+$/.test(name))).toEqual([])
    expect(Object.keys(whole.components!.schemas!).filter((name) => name in globalThis)).toEqual([])
  })

  test('has a valid example for every body', () => {
    const ajv = createAjv()
    for (const { schema, examples } of contentsOf(whole)) {
      expect(examples.length).toBeGreaterThan(0)
      const validate = ajv.compile(schema)
      for (const [name, value] of examples) {
        expect({ name, valid: validate(value), errors: validate.errors }).toMatchObject({ valid: true })
      }
    }
  })
})

test('the check of responses refuses what is not declared', () => {
  const check = createAnswerCheck(GOLDEN)
  const headers = new Headers({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
  const answer = { method: 'POST', path: ENDPOINT.path, status: 200, headers, body: '{"ok":true}' }
  check(answer)
  expect(() => check({ ...answer, status: 418 })).toThrow('the status is not one of')
  expect(() => check({ ...answer, body: '{"ok":1}' })).toThrow('the body does not match')
  expect(() => check({ ...answer, headers: new Headers({ 'Content-Type': 'application/json' }) })).toThrow('is missing')
  headers.set('Content-Type', 'text/html')
  expect(() => check(answer)).toThrow('the media type is "text/html"')
})

test('the contact is an address or a URL', () => {
  const toContact = (contact: string) => describeSite(`contact: ${contact}`).info.contact
  const name = 'Newsletter'
  expect(toContact('mailto:owner+site@example.org?subject=Hi')).toEqual({ name, email: 'owner+site@example.org' })
  expect(toContact('https://example.org/us')).toEqual({ name, url: 'https://example.org/us' })
  expect(toContact('mailto:a%2Bb@example.org')).toEqual({ name, url: 'mailto:a%2Bb@example.org' })
  expect(describeSite('').info).not.toHaveProperty('contact')
})

/**
 * The contract fixes the limit of 254 characters in the schema, as they are sent, and lets the server trim first. So only
 * the server accepts white space around an address that is nearly as long. test/email.test.ts compares pattern and server.
 */
test('the schema of the request accepts what the server accepts, also when a validator asserts the format', () => {
  const schema = GOLDEN.components!.schemas!.Subscription as oas31.SchemaObject
  // In the dialect of OpenAPI 3.1 `format` is an annotation (JSON Schema 2020-12, Validation, section 7.2.1).
  const isValid = new Ajv2020({ strict: true, validateFormats: false }).compile(schema)
  // The format refuses white space.
  const isValidWithFormat = createAjv().compile(schema)
  expect(isValid({})).toBe(false)
  // The limit of the local part is in words: a pattern without look-ahead cannot count to 64.
  expect(isValid({ email: `${'l'.repeat(65)}@example.org` })).toBe(true)
  for (const { input, address } of VECTORS.filter(({ reason }) => reason !== 'too_long')) {
    const valid = address !== undefined && String(input).length <= 254
    expect({ input, valid: isValid({ email: input }) }).toEqual({ input, valid })
    const trimmed = typeof input === 'string' ? input.trim() : input
    expect({ input, valid: isValidWithFormat({ email: trimmed }) }).toEqual({ input, valid: address !== undefined })
  }
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
