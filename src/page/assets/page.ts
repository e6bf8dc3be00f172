/**
 * The script of the page: sends the form to the endpoint and shows the outcome. Without it, the form posts to its own page, so the
 * script leaves the form alone in a browser that lacks something, and gives it back at a defect.
 */

import { parseTypedAddress } from '../../email.ts'
import { findLikelyAddress } from '../../likely-address.ts'
import { RESPONSE_TIMEOUT_MS } from '../../limits.ts'
import { isMistake, type Outcome, toOutcome } from '../../locales/locale.ts'
import { ENDPOINT } from '../../routes.ts'
import { startLanguages } from './languages.ts'
import { hasNeeded } from './needs.ts'

// After a success of the plain form, the page has no form, and nothing that is in it: the link in the confirmation leads to it. Then
// `startForm` does not run, and nothing else uses these.
const form = document.querySelector('form') as HTMLFormElement
const field = document.getElementById('email') as HTMLInputElement
const button = document.querySelector('form > button') as HTMLButtonElement
const status = document.getElementById('outcome') as HTMLElement
const done = document.getElementById('done') as HTMLElement
/** A repeat within this time is a double click, and confirms nothing: nobody has read the question. */
const QUESTION_MS = 1_000
/** The address that the reader was asked about, and since when. Sending it again confirms it. */
let asked = { address: '', since: 0 }

const isSending = () => status.dataset.outcome === 'sending'

/** Takes the form over. */
function startForm(): void {
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (!isSending()) subscribe().catch(sendWithoutScript)
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

  // A page that was left and is shown again from the cache of the browser may still say that it sends.
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted && isSending()) show('')
  })
}

/** Sends the form as if there were no script. To send an address twice does no harm. */
function sendWithoutScript(defect: unknown): void {
  console.error(defect)
  form.submit()
}

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
  if (failure !== undefined) return show(failure)
  if (afterSubscribe) return location.assign(afterSubscribe)
  confirm(result.value, typed)
}

/** Sends an address. Resolves to what went wrong, or to undefined when it was accepted. */
async function send(email: string): Promise<Outcome | undefined> {
  const request = new Request(ENDPOINT.path, {
    method: 'POST',
    headers: { 'Content-Type': ENDPOINT.mediaType },
    body: JSON.stringify({ email }),
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
  })
  // Only the network and the time limit reject it. A defect of the script must not look like them.
  const response = await fetch(request).catch(() => undefined)
  if (!response) return 'unreachable'
  // A proxy or the login page of a network may respond with anything.
  const body: { readonly ok?: boolean; readonly message?: string } | null = await response.json().catch(() => null)
  if (response.ok) return body?.ok === true ? undefined : 'unreachable'
  // The endpoint has no such statuses. A proxy limits requests, or refuses a client.
  if (response.status === 429) return 'too_many'
  if (response.status === 403) return 'refused'
  return body?.message === 'invalid_email' ? 'invalid_email' : 'storage_failure'
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
  // The group keeps the question mark behind the address, as a part of its own.
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
  // Each of its words is in an attribute until now.
  for (const part of done.querySelectorAll<HTMLElement>('[data-text]')) part.textContent = part.dataset.text ?? ''
  for (const link of done.querySelectorAll<HTMLAnchorElement>('[data-href]')) link.href = link.dataset.href ?? ''
  form.hidden = true
  done.hidden = false
  show('accepted')
  document.getElementById('address')?.replaceChildren(email)
  if (field.value === typed) field.value = email
  // The browser would scroll the whole confirmation onto the screen, and the title off it.
  done.focus({ preventScroll: true })
  done.querySelector('h2')?.scrollIntoView({ block: 'nearest' })
}

if (hasNeeded()) {
  startLanguages()
  if (form) startForm()
  const developers = document.querySelector('.developers')
  developers?.addEventListener('toggle', () => developers.lastElementChild?.scrollIntoView({ block: 'nearest' }))
}
