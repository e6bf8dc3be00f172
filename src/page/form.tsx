/** @jsxImportSource hono/jsx */

import type { JSX } from 'hono/jsx/jsx-runtime'
import { isMistake, OUTCOMES, type Outcome } from '../locales/locale.ts'
import { toPagePath } from '../routes.ts'
import type { Page } from './head.tsx'
import { hasTitleFont } from './title.ts'

/** The state of the form in one response. */
export interface FormState {
  /** The outcome of a submitted form. */
  readonly outcome?: Outcome | undefined
  /** The address: what was typed, or what was accepted. */
  readonly typed?: string | undefined
}

/**
 * Builds the form. The checks of the browser are off, so that every message is in the language of the page. There is
 * no maxlength, because it would truncate a long address to another address. The region of the outcome is always
 * rendered: a screen reader may not announce a text in a region that appears together with it.
 */
export function createForm(page: Page, { outcome, typed }: FormState): JSX.Element {
  const { site, language, note, phrases } = page
  const messages = OUTCOMES.map((name) => [`data-${name}`, phrases[name]])
  const isInvalid = isMistake(outcome)
  const message = outcome && phrases[outcome]
  return (
    <form
      method="post"
      novalidate
      action={toPagePath(language, site.languages)}
      data-after-subscribe={site.afterSubscribe}
    >
      <label for="email">{phrases.email}</label>
      <input
        id="email"
        name="email"
        type="email"
        required
        autocomplete="email"
        autocapitalize="none"
        enterkeyhint="send"
        spellcheck={false}
        dir="ltr"
        aria-describedby="outcome stored"
        value={typed}
        aria-invalid={isInvalid}
        autofocus={isInvalid}
      />
      <p
        class="outcome"
        id="outcome"
        role="status"
        {...Object.fromEntries(messages)}
        data-outcome={outcome}
        tabindex={-1}
        // Of a mistake, the field has the focus.
        autofocus={message !== undefined && !isInvalid}
      >
        {message}
      </p>
      <button class="button" type="submit">
        {phrases.subscribe}
      </button>
      <div class="notes">
        {note && (
          <p class="note" lang={note.language}>
            <bdi>{note.text}</bdi>
          </p>
        )}
        <p class="stored" id="stored">
          {phrases.stored}
        </p>
      </div>
    </form>
  )
}

/**
 * Builds the confirmation, which is in the place of the form after a success. Before that, it is hidden, and its words are in
 * attributes, from which the script takes them: text browsers, and programs that turn HTML into text, show what is hidden.
 */
export function createConfirmation(page: Page, { outcome, typed }: FormState): JSX.Element {
  const { site, language, name, phrases } = page
  const isDone = outcome === 'accepted'
  const isTitle = hasTitleFont(name.text, phrases.accepted)
  const toWords = (text: string) => (isDone ? { children: text } : { 'data-text': text })
  // A hidden link has no target either: without words, it would lead somewhere that nobody can name.
  const toLink = (text: string, href: string) => ({ ...toWords(text), [isDone ? 'href' : 'data-href']: href })
  return (
    <section class="done" id="done" tabindex={-1} aria-labelledby="done-title" hidden={!isDone} autofocus={isDone}>
      <svg viewBox="-1 -1 50 50" width="44" height="44" aria-hidden="true">
        <circle cx="24" cy="24" r="24" />
        <path d="M14.5 24.5l6.5 6.5 12.5-13" />
      </svg>
      <h2 id="done-title" class={isTitle ? 'title' : undefined} {...toWords(phrases.accepted)} />
      <p class="address">
        {/* No program that translates the page changes an address. */}
        <bdi id="address" dir="ltr" translate="no">
          {isDone && typed}
        </bdi>
      </p>
      <p {...toWords(phrases.next)} />
      <p class="actions">
        {/* With issues, these are the next step. */}
        {site.home && site.issues.length === 0 && <a class="button" {...toLink(phrases.home, site.home)} />}
        <a id="again" {...toLink(phrases.again, toPagePath(language, site.languages))} />
      </p>
    </section>
  )
}
