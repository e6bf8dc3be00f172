/** The pages over HTTP: redirects to the one path of each, and GET, HEAD and POST. */

import { type Language, toPagePath } from '../config/texts.ts'
import { PAGE_PROBLEMS, toErrorBody } from '../errors.ts'
import { renderPage } from '../page/render.tsx'
import { ALLOW } from '../routes.ts'
import { createDocumentHandler } from './document-handler.ts'
import { prefersMarkdown } from './negotiation.ts'
import { createPageForm, PAGE_MEDIA_TYPE, type PageFormOptions, toPageHeaders } from './page-form.ts'
import { createJsonResponder, type Handler, type HeaderFields, redirect } from './responses.ts'
import { toQuery, toTarget } from './target.ts'

export interface PagesOptions extends PageFormOptions {
  /** Handles requests to `/` that prefer Markdown. */
  readonly guide?: Handler | undefined
}

/**
 * Creates the handlers of the pages and of the redirects to them, by path: a language in another case redirects to its
 * page, and the default language to `/`. Each handles every method.
 */
export function createPages(options: PagesOptions): ReadonlyMap<string, Handler> {
  const { guide, headers, site } = options
  const handlers = new Map<string, Handler>()
  for (const language of site.languages) {
    const path = toPagePath(language, site.languages)
    const page = createPage(options, language)
    for (const other of listCases(`/${language}`)) handlers.set(other, createPageRedirect(path, headers))
    handlers.set(path, guide && path === '/' ? createHome(page, guide) : page)
  }
  return handlers
}

/** Lists a text in every mix of upper and lower case. */
function listCases(text: string): string[] {
  return [...text].reduce<string[]>(
    (starts, letter) => {
      const cases = new Set([letter.toLowerCase(), letter.toUpperCase()])
      return starts.flatMap((start) => [...cases].map((end) => start + end))
    },
    [''],
  )
}

function createPageRedirect(path: string, headers: HeaderFields): Handler {
  return (request) => redirect(308, path + toQuery(toTarget(request.url)), headers)
}

/** Chooses by the Accept header, and says so in Vary (RFC 9110 section 12.5.5). */
function createHome(page: Handler, guide: Handler): Handler {
  async function choose(request: Request): Promise<Response> {
    const response = await (prefersMarkdown(request.headers.get('accept')) ? guide : page)(request)
    response.headers.append('Vary', 'Accept')
    return response
  }
  return (request) => (request.method === 'GET' || request.method === 'HEAD' ? choose(request) : page(request))
}

function createPage(options: PagesOptions, language: Language): Handler {
  const document = {
    path: toPagePath(language, options.site.languages),
    mediaType: PAGE_MEDIA_TYPE,
    body: () => renderPage(options, language),
    headers: toPageHeaders(language, options.site),
  }
  const read = createDocumentHandler(document, options.headers)
  const subscribe = createPageForm(options, language)
  const { page_methods: wrongMethod } = PAGE_PROBLEMS
  const headers = { ...options.headers, Allow: ALLOW.page_methods }
  const refuse = createJsonResponder(wrongMethod.status, toErrorBody(wrongMethod), headers)

  return (request) => {
    if (request.method === 'POST') return subscribe(request)
    return request.method === 'GET' || request.method === 'HEAD' ? read(request) : refuse()
  }
}
