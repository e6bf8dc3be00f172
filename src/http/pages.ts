/** The pages over HTTP: GET and HEAD, the form, and redirects to the path of a page. */

import { createHash } from 'node:crypto'
import { parseTypedAddress } from '../email.ts'
import { PROBLEMS } from '../errors.ts'
import type { Intake } from '../intake/intake.ts'
import { MAX_EXPLAINED_LENGTH } from '../limits.ts'
import { toOutcome } from '../locales/locale.ts'
import type { Language } from '../locales/texts.ts'
import type { FormState } from '../page/form.tsx'
import { createStyle, type PageOptions } from '../page/head.tsx'
import { renderPage } from '../page/render.tsx'
import { CACHE_CONTROL, LIMITED_HEADER, toPagePath } from '../routes.ts'
import { type BodyReader, closeIfCut, hasMediaType } from './body.ts'
import { createDocumentHandler, prefersMarkdown } from './representations.ts'
import { type Handler, type HeaderFields, isRead, type JsonResponses, redirect } from './responses.ts'

interface PagesOptions extends PageOptions {
  /** Headers of every page that is read. */
  readonly headers: HeaderFields
  /** Errors and redirects. The response to a form has their headers too. */
  readonly responses: JsonResponses
  readonly intake: Pick<Intake, 'add'>
  readonly bodies: Pick<BodyReader, 'read'>
  /** Handles requests to a page that prefer Markdown. */
  readonly guide: Handler
}

const PAGE_MEDIA_TYPE = 'text/html; charset=utf-8'
const FORM_MEDIA_TYPE = 'application/x-www-form-urlencoded'

/**
 * Creates the handlers of the pages and of the redirects to them, by path: another spelling of a language redirects to its
 * page, and the default language to `/`. Each handles every method.
 */
export function createPages(options: PagesOptions): ReadonlyMap<string, Handler> {
  const { responses, baseUrl, site } = options
  const handlers = new Map<string, Handler>()
  for (const language of site.languages) {
    const path = toPagePath(language, site.languages)
    const toPage: Handler = ({ url }) => {
      // Only the query is parsed: what is before it has the Host of the request, which may be no host.
      const { search } = new URL(url.replace(/^[^?]*/, ''), baseUrl)
      return redirect(308, path + search, responses.headers)
    }
    for (const other of listSpellings(language)) handlers.set(other, toPage)
    handlers.set(path, createPage(options, language))
  }
  return handlers
}

/** Lists paths for a language: in lower and upper case, with the region instead of the script, alone, and with a slash at the end. */
function listSpellings(tag: Language): string[] {
  const { language, region } = new Intl.Locale(tag).maximize()
  const tags = [tag, language, `${language}-${region}`]
  const inAnyCase = tags.flatMap((other) => [other, other.toLowerCase(), other.toUpperCase()])
  return inAnyCase.flatMap((other) => [`/${other}`, `/${other}/`])
}

function createPage(options: PagesOptions, language: Language): Handler {
  const { guide } = options
  const path = toPagePath(language, options.site.languages)
  const headers = createPageHeaders(options, language)
  const fields = { ...headers, 'Cache-Control': CACHE_CONTROL.page }
  const document = { path, mediaType: PAGE_MEDIA_TYPE, body: () => renderPage(options, language), headers: fields }
  const page = createDocumentHandler(document, options.headers)
  const subscribe = createPageForm(options, language, headers)

  async function read(request: Request): Promise<Response> {
    const handler = prefersMarkdown(request.headers.get('accept')) ? guide : page
    const response = await handler(request)
    // A cache must not serve the guide to a browser (RFC 9110 section 12.5.5).
    response.headers.append('Vary', 'Accept')
    return response
  }

  return (request) => {
    if (request.method === 'POST') return subscribe(request)
    return isRead(request) ? read(request) : options.responses.problem('page_methods')
  }
}

/**
 * Creates the handler of a POST: the rule for typed addresses, and the same limits and intake as the endpoint. The response is a page, or
 * the redirect that the owner asked for.
 */
function createPageForm(options: PagesOptions, language: Language, pageHeaders: HeaderFields): Handler {
  const { intake, bodies, site, responses } = options
  const own = { 'Content-Type': PAGE_MEDIA_TYPE, 'Cache-Control': CACHE_CONTROL.form }
  const headers = { ...responses.headers, ...pageHeaders, ...own }

  function show(status: number, state: FormState): Response {
    return new Response(renderPage(options, language, state), { status, headers })
  }

  async function submit(request: Request): Promise<Response> {
    const form = await bodies.read(request)
    // A form that is too large is not of this page, and one that is too slow is rare: one message for both.
    if (typeof form !== 'string') {
      return closeIfCut(form, show(PROBLEMS[form.reason].status, { outcome: 'storage_failure' }))
    }
    const text = readEmail(form)
    const typed = text.trim().slice(0, MAX_EXPLAINED_LENGTH)
    // A proxy limits requests. It cannot render the page, and what was typed must stay.
    if (request.headers.has(LIMITED_HEADER)) return show(429, { outcome: 'too_many', typed })
    const address = parseTypedAddress(text)
    if (!address.ok) return show(PROBLEMS[address.reason].status, { outcome: toOutcome(address.reason), typed })
    try {
      await intake.add(address.value)
    } catch {
      // The intake logs failures.
      return show(PROBLEMS.store_failed.status, { outcome: 'storage_failure', typed })
    }
    // Not a redirect to a page of thanks, which a link could show to anybody. A reload sends the form again, which is safe.
    if (site.afterSubscribe === undefined) return show(200, { outcome: 'accepted', typed: address.value })
    return redirect(303, site.afterSubscribe, responses.headers)
  }

  return (request) => (hasMediaType(request, FORM_MEDIA_TYPE) ? submit(request) : responses.problem('form_only'))
}

/** Creates the headers of every version of the page in a language. */
function createPageHeaders(options: PagesOptions, language: Language): HeaderFields {
  const { afterSubscribe } = options.site
  // Chromium applies form-action to the redirect after a form too.
  const target = afterSubscribe === undefined ? '' : ` ${new URL(afterSubscribe).origin}`
  const hash = createHash('sha256').update(createStyle(options, language)).digest('base64')
  // Only what the page needs: its own style, no inline script, nothing from another host.
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    `form-action 'self'${target}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    `style-src 'sha256-${hash}'`,
  ]
  return { 'Content-Security-Policy': policy.join('; '), 'Content-Language': language }
}

/** Reads the address, or an empty text. Parsing every field takes 30 times as long if there are thousands. */
function readEmail(form: string): string {
  const field = /(?:^|&)email=[^&]*/.exec(form)?.[0]
  return new URLSearchParams(field).get('email') ?? ''
}
