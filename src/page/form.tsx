/** @jsxImportSource hono/jsx */

import type { JSX } from 'hono/jsx/jsx-runtime'
import { type Language, toPagePath, toTexts } from '../config/texts.ts'
import { isMistake, type Outcome } from '../locales/locale.ts'
import type { PageOptions } from './head.tsx'
import { isInTitleFont } from './title-font.ts'

/** The state of the form in one response. */
export interface FormState {
  /** The outcome of a submitted form. */
  readonly outcome?: Outcome | undefined
  /** The address that was typed. */
  readonly typed?: string | undefined
}

/**
 * Builds the form. The checks of the browser are off, so that every message is in the language of the page. There is
 * no maxlength, because it would truncate a long address to another address. The region of the outcome is always
 * rendered: a screen reader may not announce a text in a region that appears together with it.
 */
export function createForm({ site }: PageOptions, language: Language, { outcome, typed }: FormState): JSX.Element {
  const { note, phrases } = toTexts(site, language)
  const isInvalid = isMistake(outcome)
  const isDone = outcome === 'accepted'
  const outcomes = Object.entries(phrases.outcomes).map(([name, phrase]) => [
    `data-${name}`,
    phrase.replace('{subscribe}', () => phrases.subscribe),
  ])
  return (
    <form
      method="post"
      novalidate
      action={toPagePath(language, site.languages)}
      hidden={isDone}
      data-next={site.afterSubscribe}
    >
      <label for="email">{phrases.email}</label>
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
        <button type="submit">
          <span>{phrases.subscribe}</span>
        </button>
      </div>
      <div class="notes">
        <p
          class="outcome"
          id="outcome"
          role="status"
          {...Object.fromEntries(outcomes)}
          data-outcome={outcome}
          tabindex={-1}
          autofocus={outcome !== undefined && !isInvalid && !isDone}
        >
          {outcome && !isDone && phrases.outcomes[outcome]}
        </p>
        <p class="kept" id="kept">
          {phrases.kept}
        </p>
      </div>
      {note && (
        <p class="note" lang={note.language}>
          <bdi>{note.text}</bdi>
        </p>
      )}
      {site.sample && (
        <p class="note">
          <a href={site.sample}>{phrases.sample}</a>
        </p>
      )}
    </form>
  )
}

/** Builds what replaces the form after a success. The script adds the address. */
export function createConfirmation({ site, assets }: PageOptions, language: Language, isDone: boolean): JSX.Element {
  const { outcomes, next, again, home, sample } = toTexts(site, language).phrases
  const isTitle = assets.font !== undefined && isInTitleFont(outcomes.accepted)
  return (
    <section class="done" id="done" tabindex={-1} aria-labelledby="done-title" hidden={!isDone} autofocus={isDone}>
      <svg viewBox="0 0 48 48" width="56" height="56" aria-hidden="true">
        <circle cx="24" cy="24" r="24" />
        <path d="M14.5 24.5l6.5 6.5 12.5-13" pathLength="1" />
      </svg>
      <h2 id="done-title" class={isTitle ? 'title' : undefined}>
        {toSentences(outcomes.accepted)}
      </h2>
      <p class="address" id="address" dir="ltr" />
      <p>{next}</p>
      <p class="actions">
        {site.home && (
          <a class="button" href={site.home}>
            {home}
          </a>
        )}
        {!site.home && site.sample && (
          <a class="button" href={site.sample}>
            {sample}
          </a>
        )}
        <a id="again" href={toPagePath(language, site.languages)}>
          {again}
        </a>
      </p>
    </section>
  )
}

/** Puts each sentence into an element of its own, so that a line can end after it. White space between them stays. */
function toSentences(text: string): (JSX.Element | string)[] {
  const parts = text.split(/(?<=[.!?])(\s+)|(?<=[。！？])(?=.)/u)
  return parts.map((part = '') => (part.trim() === '' ? part : <span key={part}>{part}</span>))
}
