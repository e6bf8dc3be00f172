/** @jsxImportSource hono/jsx */

import { html } from 'hono/html'
import type { JSX } from 'hono/jsx/jsx-runtime'
import { LANGUAGES, type Language, toPagePath } from '../config/languages.ts'
import type { Site } from '../config/site-file.ts'
import { createCurlCall } from '../documents/curl.ts'
import { DOCUMENTS } from '../routes.ts'
import { createHead, type PageOptions } from './head.tsx'
import { isMistake, type Locale, type Outcome } from './locale.ts'
import { LOCALES } from './locales.ts'

/** The state of the page in one response. */
export interface PageState {
  /** Another language to suggest. */
  readonly suggestion?: Language | undefined
  /** The outcome of a submitted form. */
  readonly outcome?: Outcome | undefined
  /** The address that was typed. */
  readonly typed?: string | undefined
}

/** Creates a function that renders the page for a submitted form. All but the address is rendered once for each outcome. */
export function createPageTemplate(
  options: PageOptions,
  language: Language,
): (outcome: Outcome, typed: string) => string {
  const templates = new Map<Outcome, readonly string[]>()
  return (outcome, typed) => {
    const template = templates.get(outcome) ?? renderPage(options, language, { outcome, typed: TYPED }).split(TYPED)
    templates.set(outcome, template)
    return template.join(html`${typed}`.toString())
  }
}

/** Stands for the address in a template. The settings of a site have no control characters. */
const TYPED = '\0'

/** Renders the page in one of the site's languages. */
export function renderPage(options: PageOptions, language: Language, state: PageState = {}): string {
  const { site, baseUrl, assets } = options
  const locale = LOCALES[language]
  // The name and the description are in the default language.
  const descriptionLanguage = language === site.languages[0] ? undefined : site.languages[0]
  const page = (
    <html lang={language} dir={LANGUAGES[language].direction}>
      {createHead(options, language, state.outcome)}
      <body>
        <header>{state.suggestion && createSuggestion(state.suggestion, site)}</header>
        <main>
          <img class="logo" src={assets.logo} alt="" />
          <h1 lang={descriptionLanguage}>
            <bdi>{site.name}</bdi>
          </h1>
          <p class="description" lang={descriptionLanguage}>
            <bdi>{site.description}</bdi>
          </p>
          {createForm(locale, toPagePath(language, site.languages), state)}
          {createConfirmation(locale, toPagePath(language, site.languages), state.outcome === 'accepted')}
        </main>
        <footer>
          {site.contact && (
            <p>
              <a href={site.contact}>{locale.contact}</a>
            </p>
          )}
          <p>
            {locale.license}{' '}
            <a rel="license" href={site.license.url}>
              <bdi>{site.license.name}</bdi>
            </a>
          </p>
          {createDevelopers(locale, baseUrl)}
          {site.languages.length > 1 && createLanguages(locale, language, site)}
        </footer>
      </body>
    </html>
  )
  return `<!doctype html>\n${page}\n`
}

function createSuggestion(language: Language, { languages }: Site): JSX.Element {
  return (
    <p class="suggestion" lang={language} dir={LANGUAGES[language].direction}>
      <a href={toPagePath(language, languages)} hreflang={language}>
        {LOCALES[language].suggestion}
      </a>
    </p>
  )
}

/**
 * Builds the form. The checks of the browser are off, so that every message is in the language of the page. There is
 * no maxlength, because it would truncate a long address to another address. The region of the outcome is always
 * rendered: a screen reader may not announce a text in a region that appears together with it.
 */
function createForm(locale: Locale, action: string, { outcome, typed }: PageState): JSX.Element {
  const isInvalid = isMistake(outcome)
  const isDone = outcome === 'accepted'
  const phrases = Object.fromEntries(Object.entries(locale.outcomes).map(([name, phrase]) => [`data-${name}`, phrase]))
  return (
    <form method="post" novalidate action={action} hidden={isDone}>
      <label for="email">{locale.email}</label>
      <div class="field">
        <input
          id="email"
          name="email"
          type="email"
          required
          autocomplete="email"
          autocapitalize="none"
          spellcheck={false}
          dir="ltr"
          aria-describedby="outcome kept"
          value={typed}
          aria-invalid={isInvalid}
          autofocus={isInvalid}
        />
        <button type="submit">{locale.subscribe}</button>
      </div>
      <p
        class="outcome"
        id="outcome"
        role="status"
        {...phrases}
        data-outcome={outcome}
        tabindex={-1}
        autofocus={outcome !== undefined && !isInvalid && !isDone}
      >
        {outcome && !isDone && locale.outcomes[outcome]}
      </p>
      <p class="kept" id="kept">
        {locale.kept}
      </p>
    </form>
  )
}

/** Builds what replaces the form after a success. The script adds the address. */
function createConfirmation(locale: Locale, path: string, isDone: boolean): JSX.Element {
  return (
    <section class="done" id="done" tabindex={-1} aria-labelledby="done-title" hidden={!isDone} autofocus={isDone}>
      <svg viewBox="0 0 48 48" width="48" height="48" aria-hidden="true">
        <circle cx="24" cy="24" r="22" />
        <path d="M14 24.5l7 7 13-14" pathLength="1" />
      </svg>
      <h2 id="done-title">{locale.outcomes.accepted}</h2>
      <p class="address" id="address" dir="ltr" />
      <p>{locale.next}</p>
      <p>
        <a id="again" href={path}>
          {locale.again}
        </a>
      </p>
    </section>
  )
}

function createDevelopers({ developers }: Locale, baseUrl: string): JSX.Element {
  const { openApiJson, openApiYaml, llmsTxt } = DOCUMENTS
  return (
    <details>
      <summary>{developers.title}</summary>
      <p>{developers.lead}</p>
      <pre dir="ltr">
        <code>{createCurlCall(baseUrl)}</code>
      </pre>
      <ul>
        {[openApiJson, openApiYaml, llmsTxt].map(({ path }) => (
          <li key={path}>
            <a href={path} dir="ltr">
              {path}
            </a>
          </li>
        ))}
      </ul>
    </details>
  )
}

function createLanguages(locale: Locale, current: Language, { languages }: Site): JSX.Element {
  return (
    <nav aria-label={locale.languages}>
      <ul>
        {languages.map((language) => (
          <li key={language}>
            <a
              href={toPagePath(language, languages)}
              lang={language}
              hreflang={language}
              dir={LANGUAGES[language].direction}
              aria-current={language === current ? 'page' : undefined}
            >
              {LANGUAGES[language].name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
