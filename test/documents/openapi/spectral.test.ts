/** The description passes Spectral: the rules for OpenAPI, and those for the OWASP API Security Top 10. */

import { beforeAll, expect, test } from 'bun:test'
import { Ruleset, Spectral } from '@stoplight/spectral-core'
import owasp from '@stoplight/spectral-owasp-ruleset'
import { oas } from '@stoplight/spectral-rulesets'
import { parseSite } from '../../../src/config/site-file.ts'
import { createDescription, toJson } from '../../../src/documents/openapi/description.ts'

/** A rule that does not apply. */
interface Exception {
  readonly rule: string
  /** The places where it does not apply. By default all. */
  readonly at?: RegExp
  readonly reason: string
}

const EXCEPTIONS: readonly Exception[] = [
  { rule: 'owasp:api2:2023-read-restricted', reason: 'The documents are public.' },
  { rule: 'owasp:api2:2023-write-restricted', reason: 'Everybody may subscribe. There are no accounts.' },
  { rule: 'owasp:api8:2023-define-error-responses-401', reason: 'There are no accounts, so nothing gets a 401.' },
  { rule: 'owasp:api4:2023-rate-limit', reason: 'There is no rate limit. A proxy may have one.' },
  { rule: 'owasp:api4:2023-rate-limit-responses-429', reason: 'There is no rate limit. A proxy may have one.' },
  {
    rule: 'owasp:api4:2023-string-limit',
    at: /\.(parameters|headers)\./,
    reason: 'The HTTP server limits the headers of a request together. A response repeats at most its path.',
  },
  {
    rule: 'owasp:api4:2023-string-limit',
    at: /\.get\.responses\.200\.content\./,
    reason: 'The length of a document depends on the site file.',
  },
  {
    rule: 'owasp:api4:2023-string-restricted',
    at: /\.error\.properties\.(message|hint)$/,
    reason: 'A text for people and models has no format.',
  },
  {
    rule: 'owasp:api4:2023-string-restricted',
    at: /\.(parameters|headers)\./,
    reason: 'A request may have any value. The preflight depends on CORS_ORIGINS.',
  },
  {
    rule: 'owasp:api4:2023-string-restricted',
    at: /\.scopes_supported\.items$/,
    reason: 'The list is empty.',
  },
  {
    rule: 'owasp:api8:2023-define-cors-origin',
    reason: 'Only documents are for pages of any origin. For the endpoint it depends on CORS_ORIGINS and on the page.',
  },
  {
    rule: 'owasp:api8:2023-define-error-validation',
    at: /\.(get|options)\.responses$/,
    reason: 'These operations have no input that can be invalid.',
  },
  {
    rule: 'owasp:api9:2023-inventory-access',
    reason: 'The contract has one server with a URL and nothing else.',
  },
]

/** What a rule found. */
interface Finding {
  readonly rule: string
  /** Member names, joined by dots. */
  readonly at: string
  readonly message: string
}

let findings: readonly Finding[]
beforeAll(async () => {
  const spectral = new Spectral()
  spectral.setRuleset(new Ruleset({ extends: [oas, owasp] }))
  // A site with everything that is optional in the description.
  const config = { baseUrl: 'https://www.list.example', corsOrigins: ['https://www.example.org'] }
  const site = parseSite('contact: https://www.list.example/contact', 'site.yaml')
  const results = await spectral.run(toJson(createDescription({ ...config, site })))
  findings = results.map(({ code, path, message }) => ({ rule: String(code), at: path.join('.'), message }))
})

test('no rule finds anything, apart from the exceptions', () => {
  expect(findings.filter((finding) => !EXCEPTIONS.some((exception) => covers(exception, finding)))).toEqual([])
})

test('every exception is needed', () => {
  const idle = EXCEPTIONS.filter((exception) => !findings.some((finding) => covers(exception, finding)))
  expect(idle).toEqual([])
})

function covers({ rule, at }: Exception, finding: Finding): boolean {
  return rule === finding.rule && (at === undefined || at.test(finding.at))
}
