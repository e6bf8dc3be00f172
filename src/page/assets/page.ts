/** The script of the page: sends the form to the endpoint and shows the outcome. Without it, the form posts to its own page. */

import { RESPONSE_TIMEOUT_MS } from '../../limits.ts'
import { isMistake, type Outcome, toOutcome } from '../../locales/locale.ts'
import { ENDPOINT } from '../../routes.ts'
import { parseTypedAddress } from '../../typed-address.ts'
import { findLikelyAddress, splitAddress } from './typo.ts'

const form = document.querySelector('form') as HTMLFormElement
const field = form.elements.namedItem('email') as HTMLInputElement
/** The address that the reader was asked about. Sending it again confirms it. */
const asked = form.elements.namedItem('asked') as HTMLInputElement
const button = form.querySelector(':scope > button') as HTMLButtonElement
const status = document.getElementById('outcome') as HTMLElement
const done = document.getElementById('done') as HTMLElement
const FAILURE: Outcome = 'storage_failure'
let isSending = false

form.addEventListener('submit', (event) => {
  event.preventDefault()
  if (!isSending) void subscribe()
})

field.addEventListener('input', () => {
  if (!isSending) show('')
})

document.getElementById('again')?.addEventListener('click', (event) => {
  event.preventDefault()
  show('')
  done.hidden = true
  form.hidden = false
  field.focus()
  field.select()
})

async function subscribe(): Promise<void> {
  const typed = field.value
  const result = parseTypedAddress(typed)
  if (!result.ok) return show(toOutcome(result.reason))
  const likely = findLikelyAddress(result.value)
  if (likely && result.value !== asked.value) {
    asked.value = result.value
    return ask(likely)
  }
  showSending(true)
  const failure = await send(result.value)
  showSending(false)
  const { afterSubscribe } = form.dataset
  if (failure !== undefined) show(failure)
  else if (afterSubscribe) location.assign(afterSubscribe)
  else confirm(result.value, typed)
}

/** Sends an address. Resolves to an outcome, to a code without a phrase, or to undefined when it was accepted. */
async function send(email: string): Promise<string | undefined> {
  try {
    const response = await fetch(ENDPOINT.path, {
      method: 'POST',
      headers: { 'Content-Type': ENDPOINT.mediaType },
      body: JSON.stringify({ email }),
      signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    })
    const body: { readonly ok?: boolean; readonly message?: string } = await response.json().catch(() => ({}))
    // Only the endpoint accepts an address. A proxy or the login page of a network may respond with anything.
    const isOwn = new URL(response.url).origin === location.origin
    if (response.ok) return isOwn && body.ok === true ? undefined : 'unreachable'
    // The endpoint has no such statuses. A proxy limits requests, or refuses a client.
    if (response.status === 429) return 'too_many'
    if (response.status === 403) return 'refused'
    return body.message ?? FAILURE
  } catch {
    return 'unreachable'
  }
}

/** Marks the button while the page sends. The style shows this; the label does not change. */
function showSending(sending: boolean): void {
  isSending = sending
  button.setAttribute('aria-disabled', String(sending))
  if (sending) show('sending')
}

/** Shows an outcome with its phrase, which is in the page. An empty outcome removes it. */
function show(outcome: string): void {
  status.textContent = outcome === '' ? '' : (status.dataset[outcome] ?? status.dataset[FAILURE] ?? '')
  status.dataset.outcome = outcome
  field.setAttribute('aria-invalid', String(isMistake(outcome)))
  if (isMistake(outcome)) field.focus()
  if (outcome !== '') status.scrollIntoView({ block: 'nearest' })
}

/** Asks whether another address is meant. A click on it sends it. */
function ask(likely: string): void {
  show('typo')
  const [before = '', after = ''] = (status.textContent ?? '').split('{address}')
  const answer = document.createElement('button')
  answer.type = 'button'
  answer.dir = 'ltr'
  answer.append(...toBreakable(likely))
  answer.addEventListener('click', () => {
    field.value = likely
    form.requestSubmit()
  })
  status.replaceChildren(before, answer, after)
}

/** Lets a line break after the `@` and the dots of an address. */
function toBreakable(address: string): (HTMLElement | string)[] {
  return splitAddress(address).flatMap((part) => [document.createElement('wbr'), part])
}

/** Replaces the form by the confirmation. Keeps what was typed while the request was sent. */
function confirm(email: string, typed: string): void {
  show('')
  document.getElementById('address')?.replaceChildren(...toBreakable(email))
  if (field.value === typed) field.value = email
  form.hidden = true
  done.hidden = false
  // The browser would scroll the whole confirmation onto the screen, and the title off it.
  done.focus({ preventScroll: true })
  done.querySelector('h2')?.scrollIntoView({ block: 'nearest' })
}

// A page that was left and is shown again from the cache of the browser may still say that it sends.
window.addEventListener('pageshow', ({ persisted }) => {
  if (!persisted || status.dataset.outcome !== 'sending') return
  showSending(false)
  show('')
})

/** Offers the page in the first language of the browser that the site has, unless it is in that language already. */
function offerLanguage(): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('nav li a')]
  const find = (wanted: string) => links.find(({ hreflang }) => toScript(hreflang) === toScript(wanted))
  const link = navigator.languages.map(find).find(Boolean)
  if (!link?.dataset.offer) return
  const offer = link.cloneNode() as HTMLAnchorElement
  offer.textContent = link.dataset.offer
  document.querySelector('header')?.append(offer)
}

/** Returns a language with its script: `zh-TW` differs from `zh-Hans`, `pt` does not from `pt-BR`. Undefined if it is no tag. */
function toScript(tag: string): string | undefined {
  try {
    const { language, script } = new Intl.Locale(tag).maximize()
    return `${language}-${script}`
  } catch {
    return undefined
  }
}

offerLanguage()

// The list of languages is over the page, so it closes when the reader clicks or moves elsewhere.
const languages = document.querySelector('nav details')
const close = () => languages?.removeAttribute('open')
document.addEventListener('click', ({ target }) => languages?.contains(target as Node) || close())
document.addEventListener('keydown', ({ key }) => key === 'Escape' && close())
