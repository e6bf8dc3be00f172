/** @jsxImportSource hono/jsx */

import { html } from 'hono/html'
import type { JSX } from 'hono/jsx/jsx-runtime'
import type { Site } from '../config/site-file.ts'
import { type Language, type Text, type Texts, toPagePath, toTexts } from '../config/texts.ts'
import { createCurlCall } from '../documents/terms.ts'
import { LOCALES } from '../locales/languages.ts'
import type { Locale, Outcome } from '../locales/locale.ts'
import { DOCUMENTS } from '../routes.ts'
import { toInitial } from './favicon.ts'
import { createConfirmation, createForm, type FormState } from './form.tsx'
import { createHead, type PageOptions } from './head.tsx'
import { isInTitleFont } from './title-font.ts'

/** The state of the page in one response. */
export interface PageState extends FormState {
  /** Another language to suggest. */
  readonly suggestion?: Language | undefined
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
  const { site, baseUrl } = options
  const texts = toTexts(site, language)
  const { name, description, phrases } = texts
  const page = (
    <html lang={language} dir={LOCALES[language].direction}>
      {createHead(options, language, state.outcome)}
      <body>
        <header>{state.suggestion && createSuggestion(state.suggestion, site)}</header>
        <main>
          {createLogo(options, texts)}
          <h1 class={toNameClass(options, name)} lang={name.language}>
            <bdi>{name.text}</bdi>
          </h1>
          <p class="description" lang={description.language}>
            <bdi>{description.text}</bdi>
          </p>
          {createForm(options, language, state)}
          {createConfirmation(options, language, state.outcome === 'accepted')}
        </main>
        <footer>
          {createOwnerLinks(site, phrases)}
          <div>
            {site.languages.length > 1 && createLanguages(phrases, language, site)}
            {site.developers && createDevelopers(phrases, baseUrl)}
          </div>
        </footer>
      </body>
    </html>
  )
  return `<!doctype html>\n${page}\n`
}

/** From this number of characters, a name takes too many lines in the full size. */
const LONG_NAME = 30

function toNameClass(options: PageOptions, name: Text): string | undefined {
  const isLong = name.text.length >= LONG_NAME
  return [toTitleClass(options, name), isLong && 'long'].filter(Boolean).join(' ') || undefined
}

function toTitleClass({ assets }: PageOptions, { text }: Text): 'title' | undefined {
  return assets.font && isInTitleFont(text) ? 'title' : undefined
}

/** The logo of the owner, or the first letter of the name, with a link to the site of the owner if there is one. */
function createLogo(options: PageOptions, { name, phrases }: Texts): JSX.Element {
  const { site, assets } = options
  const logo = site.logo ? (
    <img class="logo" src={assets.logo} alt="" />
  ) : (
    // The letter comes from the style, so it is not part of the text.
    <span
      class={['mark', toTitleClass(options, name)].filter(Boolean).join(' ')}
      data-initial={toInitial(name.text)}
      aria-hidden="true"
    />
  )
  if (site.home === undefined) return logo
  return (
    <a class="home" href={site.home} aria-label={phrases.home}>
      {logo}
    </a>
  )
}

function createOwnerLinks({ contact, privacy, imprint, license }: Site, phrases: Locale): JSX.Element {
  return (
    <>
      {contact && (
        <p>
          <a href={contact}>{phrases.contact}</a>
        </p>
      )}
      {privacy && (
        <p>
          <a href={privacy}>{phrases.privacy}</a>
        </p>
      )}
      {imprint && (
        <p>
          <a href={imprint}>{phrases.imprint}</a>
        </p>
      )}
      <p>
        {phrases.license}{' '}
        <a rel="license" href={license.url}>
          <bdi>{license.name}</bdi>
        </a>
      </p>
    </>
  )
}

function createSuggestion(language: Language, site: Site): JSX.Element {
  return (
    <p class="suggestion" lang={language} dir={LOCALES[language].direction}>
      <a href={toPagePath(language, site.languages)} hreflang={language}>
        {toTexts(site, language).phrases.suggestion}
      </a>
    </p>
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
      <details>
        <summary>
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 1 0 0-13c-4 4-4 9 0 13 4-4 4-9 0-13M1.5 8h13" />
          </svg>
          {LOCALES[current].language}
        </summary>
        <ul>
          {languages.map((language) => (
            <li key={language}>
              <a
                href={toPagePath(language, languages)}
                lang={language}
                hreflang={language}
                dir={LOCALES[language].direction}
                aria-current={language === current ? 'page' : undefined}
              >
                {LOCALES[language].language}
              </a>
            </li>
          ))}
        </ul>
      </details>
    </nav>
  )
}
