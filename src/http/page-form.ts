/** The form of the page: the same address rule, limits and intake as the endpoint, with a page as the response. */

import type { Site } from '../config/site-file.ts'
import { type Language, toPagePath } from '../config/texts.ts'
import { PAGE_PROBLEMS, PROBLEMS, toErrorBody } from '../errors.ts'
import type { Intake } from '../intake/intake.ts'
import { MAX_EXPLAINED_LENGTH } from '../limits.ts'
import { type Outcome, toOutcome } from '../locales/locale.ts'
import type { PageOptions } from '../page/head.tsx'
import { createPageTemplate } from '../page/render.tsx'
import { CACHE_CONTROL } from '../routes.ts'
import { parseTypedAddress } from '../typed-address.ts'
import { type BodyReader, closeIfCut } from './body.ts'
import { createJsonResponder, type Handler, type HeaderFields, redirect } from './responses.ts'

export interface PageFormOptions extends PageOptions {
  /** Headers of every response of the service. */
  readonly headers: HeaderFields
  readonly intake: Pick<Intake, 'add'>
  readonly body: Pick<BodyReader, 'read'>
}

export const PAGE_MEDIA_TYPE = 'text/html; charset=utf-8'

/** The query of the page that confirms a subscription. */
const SUBSCRIBED = '?subscribed'

/** Whether a URL asks for the page that confirms a subscription, also among other parameters. */
export function isConfirmation(url: string): boolean {
  return /[?&]subscribed(?:[=&#]|$)/.test(url)
}

/** Allows only what the page needs: no inline script or style, nothing from another host. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  ...['script-src', 'style-src', 'img-src', 'font-src', 'connect-src', 'form-action'].map((name) => `${name} 'self'`),
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

/** Creates the handler of a POST to the page in one language. */
export function createPageForm(options: PageFormOptions, language: Language): Handler {
  const { intake, body, site } = options
  const next = site.afterSubscribe ?? toPagePath(language, site.languages) + SUBSCRIBED
  const headers = { ...options.headers, 'Cache-Control': CACHE_CONTROL.endpoint }
  const pageHeaders = { ...headers, ...toPageHeaders(language, site), 'Content-Type': PAGE_MEDIA_TYPE }
  const { form_only: formOnly } = PAGE_PROBLEMS
  const refuse = createJsonResponder(formOnly.status, toErrorBody(formOnly), headers)

  const renderPage = createPageTemplate(options, language)

  function show(status: number, outcome: Outcome, typed = ''): Response {
    const shown = typed.trim().slice(0, MAX_EXPLAINED_LENGTH)
    return new Response(renderPage(outcome, shown), { status, headers: pageHeaders })
  }

  async function accept(request: Request): Promise<Response> {
    const text = await body.read(request)
    if (!text.ok) return closeIfCut(text, show(PROBLEMS[text.reason].status, 'invalid_body'))
    const typed = readEmail(text.value)
    const address = parseTypedAddress(typed)
    if (!address.ok) return show(PROBLEMS[address.reason].status, toOutcome(address.reason), typed)
    try {
      await intake.add(address.value)
    } catch {
      // The intake logs failures.
      return show(PROBLEMS.store_failed.status, 'storage_failure', typed)
    }
    // The confirmation is relative, so that it works on every host name of the service (RFC 9110 section 10.2.2).
    return redirect(303, next, headers)
  }

  return (request) => (isForm(request.headers.get('content-type')) ? accept(request) : refuse())
}

/** Returns the headers of every version of the page in a language. */
export function toPageHeaders(language: Language, { afterSubscribe }: Pick<Site, 'afterSubscribe'>): HeaderFields {
  // Chromium applies form-action to the redirect after a form too.
  const target = afterSubscribe === undefined ? '' : ` ${new URL(afterSubscribe).origin}`
  const policy = CONTENT_SECURITY_POLICY.replace("form-action 'self'", `$&${target}`)
  return { 'Content-Security-Policy': policy, 'Content-Language': language }
}

/** Reads the field with the address. Parsing every field takes 30 times as long if there are thousands. */
function readEmail(form: string): string {
  const [field] = /(?:^|&)email=[^&]*/.exec(form) ?? []
  return new URLSearchParams(field).get('email') ?? ''
}

function isForm(contentType: string | null): boolean {
  return contentType !== null && /^application\/x-www-form-urlencoded[ \t]*(?:;|$)/i.test(contentType)
}
