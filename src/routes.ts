/** The table of paths. The description, the HTTP layer, the sitemap and llms.txt all use it. */

/** The endpoint that accepts addresses. */
export const ENDPOINT = {
  path: '/api/newsletter',
  operationId: 'subscribeToNewsletter',
  mediaType: 'application/json',
} as const

/** The methods of a path, by its kind, as a 405 names them. */
export const ALLOW = { endpoint: 'POST', document: 'GET, HEAD', page: 'GET, HEAD, POST' } as const

/**
 * The Cache-Control header of each kind of response. Without `no-transform` (RFC 9111 section 5.2.2.6), a CDN may rewrite the
 * mail link of a page and add a script, which the policy of the page blocks.
 */
export const CACHE_CONTROL = {
  /** A 200 or 304. */
  document: 'public, max-age=300',
  /** A file with a hash in its name. */
  asset: 'public, max-age=31536000, immutable',
  /** The endpoint, all errors and redirects that are no page, and all of the operations listener. */
  none: 'no-store',
  page: 'public, max-age=300, no-transform',
  /** The page in response to its form. With `no-store`, the Back button would ask the reader to send the form again. */
  form: 'private, no-cache, no-transform',
} as const

/** The header with which a proxy asks for the page with a message, above its limit of requests. */
export const LIMITED_HEADER = 'Rollcall-Limited'

/** The read-only resources: `mediaType` is the exact Content-Type of a 200; links have the title and the summary. */
export const DOCUMENTS = {
  openApiJson: {
    path: '/openapi.json',
    operationId: 'getOpenApiJson',
    mediaType: 'application/json',
    title: 'API description (JSON)',
    summary: 'Every path, limit and response of this service as OpenAPI 3.1, in JSON.',
  },
  openApiYaml: {
    path: '/openapi.yaml',
    operationId: 'getOpenApiYaml',
    mediaType: 'text/yaml; charset=utf-8',
    title: 'API description (YAML)',
    summary: 'The same OpenAPI 3.1 description, in YAML.',
  },
  llmsTxt: {
    path: '/llms.txt',
    operationId: 'getLlmstxt',
    mediaType: 'text/markdown; charset=utf-8',
    title: 'Guide for agents',
    summary: 'When to use this site, its resources for developers, and how to call the API.',
  },
  sitemap: {
    path: '/sitemap.xml',
    operationId: 'getSitemap',
    mediaType: 'application/xml',
    title: 'Sitemap',
    summary: 'All indexable pages, each with the date of its last change and its versions in other languages.',
  },
  protectedResource: {
    path: '/.well-known/oauth-protected-resource',
    operationId: 'getProtectedResourceMetadata',
    mediaType: 'application/json',
    title: 'Protected resource metadata',
    summary: 'States that no authorization server and no scope is needed (RFC 9728).',
  },
  robots: {
    path: '/robots.txt',
    operationId: 'getRobots',
    mediaType: 'text/plain; charset=utf-8',
    title: 'Rules for crawlers',
    summary: 'What crawlers may fetch, and where the sitemap is (RFC 9309).',
  },
  apiCatalog: {
    path: '/.well-known/api-catalog',
    operationId: 'getApiCatalog',
    mediaType: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    title: 'API catalog',
    summary: 'Links from the API to its description and its guide (RFC 9727).',
  },
} as const

export type DocumentName = keyof typeof DOCUMENTS

/**
 * The names of the documents, in the order of the table. The mark lets the bundler leave the table out of the script of the
 * page.
 */
export const DOCUMENT_NAMES = /* @__PURE__ */ Object.keys(DOCUMENTS) as readonly DocumentName[]

/** Returns a media type without its parameters, as a key of the description and as a hint of a link. */
export function toMediaType(contentType: string): string {
  return contentType.replace(/;.*$/, '')
}

/** Returns the path of the page in a language. The first language of the site is the default, at `/`. */
export function toPagePath(language: string, languages: readonly string[]): string {
  return language === languages[0] ? '/' : `/${language}`
}

/** In metrics, the paths that do not exist, which clients could invent, and unexpected errors. */
export const OTHER = 'other'
