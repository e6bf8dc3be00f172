/** The paths of the service, in one table: the description, the HTTP layer, the sitemap and llms.txt all take them from here. */

/** Something that answers at a path. */
export interface Resource {
  /** Its path under BASE_URL. */
  readonly path: string
  readonly operationId: string
  /** The Content-Type of its 200, to the letter. */
  readonly mediaType: string
}

/** A read-only resource, with the words by which lists of links speak of it. */
export interface DocumentResource extends Resource {
  readonly title: string
  /** What it is good for, in one sentence. */
  readonly summary: string
}

/** The one path that takes something. */
export const ENDPOINT = {
  path: '/api/newsletter',
  operationId: 'subscribeToNewsletter',
  mediaType: 'application/json',
} as const satisfies Resource

/** The Allow header of a 405, by the kind of path (RFC 9110 section 15.5.6). */
export const ALLOW = { post_only: 'POST', read_only: 'GET, HEAD', page_methods: 'GET, HEAD, POST' } as const

/** The Cache-Control header: of a document and its 304, of a file with a hash in its name, of the endpoint and the form. */
export const CACHE_CONTROL = {
  document: 'public, max-age=300',
  asset: 'public, max-age=31536000, immutable',
  endpoint: 'no-store',
} as const

/** The content codings in which a document is offered, besides none. In order of preference. */
export const CONTENT_CODINGS = ['br', 'zstd', 'gzip'] as const

/** The operation that answers preflights on the endpoint, where CORS is on. */
export const PREFLIGHT_OPERATION_ID = 'preflightNewsletter'

/** The read-only resources. */
export const DOCUMENTS = {
  openApiJson: {
    path: '/openapi.json',
    operationId: 'getOpenApiJson',
    mediaType: 'application/json',
    title: 'API description (JSON)',
    summary: 'Every path, limit and answer of this service as OpenAPI 3.1, in JSON.',
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
    summary: 'When to use this site, what it offers to developers, and the API in words.',
  },
  sitemap: {
    path: '/sitemap.xml',
    operationId: 'getSitemap',
    mediaType: 'application/xml',
    title: 'Sitemap',
    summary: 'Every page that may be indexed, with its date and its versions in other languages.',
  },
  protectedResource: {
    path: '/.well-known/oauth-protected-resource',
    operationId: 'getProtectedResourceMetadata',
    mediaType: 'application/json',
    title: 'Protected resource metadata',
    summary: 'Says by RFC 9728 that no authorization server and no scope is needed here.',
  },
  robots: {
    path: '/robots.txt',
    operationId: 'getRobots',
    mediaType: 'text/plain; charset=utf-8',
    title: 'Rules for crawlers',
    summary: 'What crawlers may fetch (RFC 9309), and where the sitemap is.',
  },
  apiCatalog: {
    path: '/.well-known/api-catalog',
    operationId: 'getApiCatalog',
    mediaType: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    title: 'API catalog',
    summary: 'Links by RFC 9727 from the API to its description and its guide.',
  },
  securityTxt: {
    path: '/.well-known/security.txt',
    operationId: 'getSecurityTxt',
    mediaType: 'text/plain; charset=utf-8',
    title: 'Security contact',
    summary: 'Whom to tell of a weakness (RFC 9116).',
  },
} as const satisfies Record<string, DocumentResource>

export type DocumentName = keyof typeof DOCUMENTS

/** The documents that a site has, in the order of the table. */
export function listDocuments({ contact }: { readonly contact?: string | undefined }): DocumentName[] {
  const names = Object.keys(DOCUMENTS) as DocumentName[]
  return names.filter((name) => name !== 'securityTxt' || isSecurityContact(contact))
}

/** Whether security.txt may name a contact: a web address there begins with https (RFC 9116 section 2.5.3). */
export function isSecurityContact(contact: string | undefined): contact is string {
  return contact !== undefined && !/^http:/i.test(contact)
}
