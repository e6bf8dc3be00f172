/** @jsxImportSource hono/jsx */

import type { JSX } from 'hono/jsx/jsx-runtime'
import type { Page } from './head.tsx'
import { hasTitleFont } from './title.ts'

/** Builds the line with the author, and the portrait beside the name. The name says what the picture shows. */
export function createAuthor({ site, assets, phrases }: Page): JSX.Element | undefined {
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
export function createIssues({ name, issues, language, phrases }: Page): JSX.Element | undefined {
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
              </span>
              <time datetime={date}>{format.format(new Date(date))}</time>
            </a>
          </li>
        ))}
      </ol>
    </section>
  )
}
