/** @jsxImportSource hono/jsx */

import type { JSX } from 'hono/jsx/jsx-runtime'
import { createCurlCall } from '../documents/terms.ts'
import { type Language, toOwnName, toTexts } from '../locales/texts.ts'
import { DOCUMENTS, toPagePath } from '../routes.ts'
import { createConfirmation, createForm, type FormState } from './form.tsx'
import { createPageHead, type Page, type PageOptions } from './head.tsx'
import { hasTitleFont, hyphenate, toSubsets, toWidth, UNSPACED } from './title.ts'

/** Renders the page in one of the site's languages: as HTML, for a GET or as the response to a form. */
export function renderPage(options: PageOptions, language: Language, state: FormState = {}): string {
  const { site, assets } = options
  const page: Page = { ...options, ...toTexts(site, language), language }
  const { name, description, issues, phrases } = page
  const html = (
    <html lang={language} dir={toDirection(language)}>
      {createPageHead(page, state.outcome)}
      <body class={site.languages.length > 1 ? 'multilingual' : undefined}>
        <main class={issues.length > 0 ? 'with-issues' : undefined}>
          {assets.logo && (
            <a class="home" href={site.home}>
              <img src={assets.logo.path} alt={site.home ? name.text : ''} />
            </a>
          )}
          <h1 class={toNameClass(name.text)} lang={name.language}>
            <bdi>{name.text.match(WORDS_AND_SPACES)?.map(createWord)}</bdi>
          </h1>
          <p class="description" lang={description.language}>
            <bdi>{description.text}</bdi>
          </p>
          {createAuthor(page)}
          {state.outcome !== 'accepted' && createForm(page, state)}
          {createConfirmation(page, state)}
          {createIssues(page)}
        </main>
        <footer>
          {site.languages.length > 1 && createLanguages(page)}
          {(['home', 'contact', 'privacy', 'imprint'] as const).map(
            (link) =>
              site[link] && (
                <p key={link}>
                  <a href={site[link]}>{phrases[link]}</a>
                </p>
              ),
          )}
          {site.license && (
            <p>
              {phrases.license}{' '}
              <a rel="license" href={site.license.url}>
                <bdi>{site.license.name}</bdi>
              </a>
            </p>
          )}
          {site.developers && createDevelopers(page)}
        </footer>
      </body>
    </html>
  )
  return `<!doctype html>\n${html}\n`
}

/** Matches white space, or a word up to its hyphen, after which a line may break. */
const WORDS_AND_SPACES = /\s+|[^\s-]*-*/g

function toDirection(language: Language) {
  return new Intl.Locale(language).getTextInfo().direction
}

/** A longer word, in em, may not fit into one line of the smallest title at 320 pixels. */
const LINE_WIDTH = 11.4

/** Puts a long word on a line of its own, where it breaks only if it must: after a dot, or between syllables. */
function createWord(word: string): JSX.Element | string {
  if (toWidth(word) <= LINE_WIDTH || UNSPACED.test(word)) return word
  const parts = word.split(/(?<=\.)/).map((part) => (toWidth(part) <= LINE_WIDTH ? part : hyphenate(part)))
  return (
    <span key={word} class="word">
      {parts.flatMap((part, index) => (index === 0 ? part : [<wbr key={part} />, part]))}
    </span>
  )
}

/** Returns the classes of a name: whether it is in the font of titles, and how large it is. */
function toNameClass(name: string): string | undefined {
  // On a wide screen, such a name has one line in this size, and two in the full one. A longer one has two in both.
  const isMedium = name.length >= 15 && name.length <= 20
  // In a larger size, such a name has three lines or more.
  const isLong = name.length >= 30
  const classes = [toSubsets(name).length > 0 && 'title', isMedium && 'medium', isLong && 'long']
  return classes.filter(Boolean).join(' ') || undefined
}

/** Builds the line with the author, and the portrait beside the name. The name says what the picture shows. */
function createAuthor({ site, assets, phrases }: Page): JSX.Element | undefined {
  if (!site.author) return undefined
  const [before, after] = phrases.by.split('{author}')
  return (
    <p class="author">
      {assets.portrait && <img class="portrait" src={assets.portrait.path} alt="" width="64" height="64" />}
      <span>
        {before}
        <bdi>{site.author}</bdi>
        {after}
      </span>
    </p>
  )
}

/** Builds the issues to read first, as a table of contents. It stays below the confirmation, where they are the next step. */
function createIssues({ name, issues, language, phrases }: Page): JSX.Element | undefined {
  if (issues.length === 0) return undefined
  const format = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' })
  // A list in two fonts is ugly.
  const isTitle = issues.every(({ title }) => hasTitleFont(name.text, title.text))
  return (
    <section class="issues" aria-labelledby="issues">
      <h2 id="issues">{phrases.issues}</h2>
      <ol>
        {issues.map(({ title, url, date }) => (
          <li key={url}>
            <a href={url}>
              <span class={isTitle ? 'title' : undefined} lang={title.language}>
                <bdi>{title.text}</bdi>
              </span>{' '}
              <time datetime={date}>{format.format(new Date(date))}</time>
            </a>
          </li>
        ))}
      </ol>
    </section>
  )
}

function createDevelopers({ baseUrl, phrases }: Page): JSX.Element {
  const { openApiJson, openApiYaml, llmsTxt } = DOCUMENTS
  return (
    <details class="developers">
      <summary>{phrases.developers}</summary>
      <div>
        <pre dir="ltr" translate="no">
          <code>{createCurlCall(baseUrl)}</code>
        </pre>
        {[openApiJson, openApiYaml, llmsTxt].flatMap(({ path }) => [
          <a key={path} href={path} dir="ltr" translate="no">
            {path}
          </a>,
          ' ',
        ])}
      </div>
    </details>
  )
}

/** The links to the page in each language, by its own name. The script offers one of them. */
function createLanguages({ site, language: current, phrases }: Page): JSX.Element {
  return (
    <nav aria-label={phrases.languages}>
      <details>
        <summary>
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 1 0 0-13c-4 4-4 9 0 13 4-4 4-9 0-13M1.5 8h13" />
          </svg>
          {toOwnName(current)}
        </summary>
        <ul>
          {site.languages.map((language) => (
            <li key={language}>
              <a
                href={toPagePath(language, site.languages)}
                lang={language}
                hreflang={language}
                dir={toDirection(language)}
                aria-current={language === current ? 'page' : undefined}
              >
                {toOwnName(language)}
              </a>
            </li>
          ))}
        </ul>
      </details>
    </nav>
  )
}
