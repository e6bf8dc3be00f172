/** The script of the page: sends the form to the endpoint and shows the outcome. Without it, the form posts to its own page. */

import { parseTypedAddress } from '../../email.ts'
import { findLikelyAddress } from '../../likely-address.ts'
import { RESPONSE_TIMEOUT_MS } from '../../limits.ts'
import { isMistake, type Outcome, toOutcome } from '../../locales/locale.ts'
import { ENDPOINT } from '../../routes.ts'
import './languages.ts'

const form = document.querySelector('form') as HTMLFormElement
const field = form.elements.namedItem('email') as HTMLInputElement
const button = form.querySelector(':scope > button') as HTMLButtonElement
const status = document.getElementById('outcome') as HTMLElement
const done = document.getElementById('done') as HTMLElement
/** A repeat within this time is a double click, and confirms nothing: nobody has read the question. */
const QUESTION_MS = 1_000
/** The address that the reader was asked about, and since when. Sending it again confirms it. */
let asked = { address: '', since: 0 }

const isSending = () => status.dataset.outcome === 'sending'

form.addEventListener('submit', (event) => {
  event.preventDefault()
  if (!isSending()) void subscribe()
})

field.addEventListener('input', () => {
  asked.address = ''
  if (!isSending() && parseTypedAddress(field.value).ok) show('')
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
  if (likely && asked.address !== result.value) return ask(result.value, likely)
  if (likely && performance.now() - asked.since < QUESTION_MS) return
  show('sending')
  const failure = await send(result.value)
  const { afterSubscribe } = form.dataset
  if (failure !== undefined) show(failure)
  else if (afterSubscribe) location.assign(afterSubscribe)
  else confirm(result.value, typed)
}

/** Sends an address. Resolves to what went wrong, or to undefined when it was accepted. */
async function send(email: string): Promise<Outcome | undefined> {
  try {
    const response = await fetch(ENDPOINT.path, {
      method: 'POST',
      headers: { 'Content-Type': ENDPOINT.mediaType },
      body: JSON.stringify({ email }),
      signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    })
    const body: { readonly ok?: boolean; readonly message?: string } = await response.json().catch(() => ({}))
    // A proxy or the login page of a network may respond with anything.
    if (response.ok) return body.ok === true ? undefined : 'unreachable'
    // The endpoint has no such statuses. A proxy limits requests, or refuses a client.
    if (response.status === 429) return 'too_many'
    if (response.status === 403) return 'refused'
    return body.message === 'invalid_email' ? 'invalid_email' : 'storage_failure'
  } catch {
    return 'unreachable'
  }
}

/** Shows an outcome, also in the title: its phrase, or other content. An empty outcome removes it. */
function show(outcome: Outcome | '', content: (Node | string)[] = [status.dataset[outcome] ?? '']): void {
  const name = document.querySelector('h1')?.textContent?.replaceAll('\u00ad', '')
  status.replaceChildren(...content)
  status.dataset.outcome = outcome
  document.title = [status.textContent, name, button.textContent].filter(Boolean).join(' · ')
  button.setAttribute('aria-disabled', String(isSending()))
  field.setAttribute('aria-invalid', String(isMistake(outcome)))
  if (isMistake(outcome)) field.focus()
  // While it sends, nothing moves.
  if (outcome && !isSending()) status.scrollIntoView({ block: 'nearest' })
}

/** Asks whether another address is meant. A click on it sends it. */
function ask(address: string, likely: string): void {
  asked = { address, since: performance.now() }
  const { typo = '' } = status.dataset
  const question = typo.replace('{subscribe}', () => button.textContent)
  const [before = '', mark = '', after = ''] = question.split(/\{address\}(\s?[?？؟])?/)
  const shown = document.createElement('bdi')
  shown.dir = 'ltr'
  shown.append(likely)
  const answer = document.createElement('button')
  answer.type = 'button'
  // After the button, a new line could begin with the question mark.
  answer.append(shown, mark)
  answer.addEventListener('click', ({ detail }) => {
    // The second click of a double click was meant for what was here before.
    if (detail > 1) return
    field.value = likely
    form.requestSubmit()
  })
  show('typo', [before, answer, after])
}

/** Replaces the form by the confirmation. Keeps what was typed while the request was sent. */
function confirm(email: string, typed: string): void {
  form.hidden = true
  done.hidden = false
  show('accepted')
  document.getElementById('address')?.replaceChildren(email)
  if (field.value === typed) field.value = email
  // The browser would scroll the whole confirmation onto the screen, and the title off it.
  done.focus({ preventScroll: true })
  done.querySelector('h2')?.scrollIntoView({ block: 'nearest' })
}

// A page that was left and is shown again from the cache of the browser may still say that it sends.
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted && isSending()) show('')
})

const developers = document.querySelector('.developers')
developers?.addEventListener('toggle', () => developers.lastElementChild?.scrollIntoView({ block: 'nearest' }))
