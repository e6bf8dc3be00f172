/** The pages over HTTP: read like documents, and the form that each of them takes. */

import { type Language, toPagePath } from '../config/languages.ts'
import { parseAddress } from '../email.ts'
import { PAGE_PROBLEMS, PROBLEMS, toErrorBody } from '../errors.ts'
import { toAsciiDomain } from '../idn.ts'
import type { Intake } from '../intake/intake.ts'
import type { PageOptions } from '../page/head.ts'
import { type Outcome, toOutcome } from '../page/locale.ts'
import { type PageState, renderPage } from '../page/render.ts'
import { ALLOW, CACHE_CONTROL } from '../routes.ts'
import { createAlternatives } from './alternatives.ts'
import type { BodyReader, BodyReason } from './body.ts'
import { createDocumentHandler, type DocumentHandler } from './document-handler.ts'
import { chooseLanguage } from './negotiation.ts'
import { type HeaderFields, toAnswer } from './responses.ts'
import { toPath, toTarget } from './target.ts'

export interface PagesOptions extends PageOptions {
  /** What every answer carries. */
  readonly headers: HeaderFields
  /** What the page at `/` is for those who ask for Markdown. */
  readonly guide?: DocumentHandler | undefined
  /** Where accepted addresses go. */
  readonly intake: Pick<Intake, 'add'>
  readonly body: Pick<BodyReader, 'read'>
}

/** Answers every method. */
export type PageHandler = (request: Request) => Response | Promise<Response>

const MEDIA_TYPE = 'text/html; charset=utf-8'

/** All that the page needs, and nothing else: no code and no style in the markup, nothing from another host. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  ...['script-src', 'style-src', 'img-src', 'connect-src', 'form-action'].map((name) => `${name} 'self'`),
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

/** The query of the page that says that the address is on the list. */
const SUBSCRIBED = '?subscribed'

/** Creates the handler of each page, by its path in lower case. Other spellings of a path are redirected to it. */
export async function createPages(options: PagesOptions): Promise<ReadonlyMap<string, PageHandler>> {
  const { languages } = options.site
  const pages = await Promise.all(
    languages.map(async (language) => {
      const page = await createPage(options, language)
      return [`/${language}`.toLowerCase(), page] as const
    }),
  )
  const home = pages.slice(0, 1).map(([, html]) => {
    return ['/', options.guide ? createAlternatives({ markdown: options.guide, html }) : html] as const
  })
  return new Map([...home, ...pages])
}

async function createPage(options: PagesOptions, language: Language): Promise<PageHandler> {
  const path = toPagePath(language, options.site.languages)
  const read = await createRead(options, language)
  const subscribe = createForm(options, language)
  const headers = { ...options.headers, Allow: ALLOW.page_methods }
  const refuse = toAnswer(PAGE_PROBLEMS.page_methods.status, toErrorBody(PAGE_PROBLEMS.page_methods), headers)

  return (request) => {
    const target = toTarget(request.url)
    const asked = toPath(target)
    if (asked !== path) return redirect(308, path + target.slice(asked.length), options.headers)
    if (request.method === 'POST') return subscribe(request)
    return request.method === 'GET' || request.method === 'HEAD' ? read(request) : refuse()
  }
}

/**
 * Reads a page. The plain one is built at start; those that suggest another language, and the one that tells of
 * a success, are built when they are first asked for, and kept: there are no more of them than languages.
 */
async function createRead(options: PagesOptions, language: Language): Promise<PageHandler> {
  const { site } = options
  const variants = new Map<string, Promise<DocumentHandler>>()

  function find(name: string, state: PageState): Promise<DocumentHandler> {
    const known = variants.get(name)
    if (known !== undefined) return known
    const variant = createDocumentHandler(
      {
        path: toPagePath(language, site.languages),
        mediaType: MEDIA_TYPE,
        body: renderPage(options, language, state),
        headers: { ...toHeaders(language), Vary: 'Accept-Encoding, Accept-Language' },
      },
      options.headers,
    )
    variants.set(name, variant)
    return variant
  }

  const plain = await find('', {})
  return (request) => {
    if (request.url.endsWith(SUBSCRIBED)) {
      return find(SUBSCRIBED, { outcome: 'accepted' }).then((handle) => handle(request))
    }
    const liked = chooseLanguage(request.headers.get('accept-language'), site.languages)
    if (!liked || liked === language) return plain(request)
    return find(liked, { suggestion: liked }).then((handle) => handle(request))
  }
}

/** Takes the form of a page: the same address rule, limits and intake as the endpoint; the answer is a page again. */
function createForm(options: PagesOptions, language: Language): PageHandler {
  const { intake, body, headers, site } = options
  const done = toPagePath(language, site.languages) + SUBSCRIBED
  const fields = { ...headers, 'Cache-Control': CACHE_CONTROL.endpoint }
  const refuse = toAnswer(PAGE_PROBLEMS.form_only.status, toErrorBody(PAGE_PROBLEMS.form_only), fields)

  function answer(status: number, outcome: Outcome, typed?: string, more?: HeaderFields): Response {
    const page = renderPage(options, language, { outcome, typed })
    const all = { ...fields, ...toHeaders(language), ...more, 'Content-Type': MEDIA_TYPE }
    return new Response(page, { status, headers: all })
  }

  function answerTo(reason: BodyReason): Response {
    // What is left of a body that is not read to its end must not be taken for the next request.
    return answer(PROBLEMS[reason].status, 'invalid_body', undefined, { Connection: 'close' })
  }

  return async (request) => {
    if (!isForm(request.headers.get('content-type'))) return refuse()
    const text = await body.read(request)
    if (!text.ok) return answerTo(text.reason)
    const typed = new URLSearchParams(text.value).get('email') ?? ''
    const result = parseAddress(toAsciiDomain(typed))
    if (!result.ok) return answer(PROBLEMS[result.reason].status, toOutcome(result.reason), typed)
    try {
      await intake.add(result.value)
    } catch {
      // The intake has logged it.
      return answer(PROBLEMS.store_failed.status, 'storage_failure', typed)
    }
    return redirect(303, done, fields)
  }
}

function toHeaders(language: Language): HeaderFields {
  return { 'Content-Security-Policy': CONTENT_SECURITY_POLICY, 'Content-Language': language }
}

// Relative, so that it holds under every name of the host (RFC 9110 section 10.2.2).
function redirect(status: 303 | 308, location: string, headers: HeaderFields): Response {
  return new Response(null, { status, headers: { ...headers, Location: location } })
}

function isForm(field: string | null): boolean {
  return field !== null && /^application\/x-www-form-urlencoded[ \t]*(?:;|$)/i.test(field)
}
