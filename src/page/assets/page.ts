/** The page's script: sends the form to the endpoint and tells the outcome in place. Without it, the form posts to its own page. */

import { parseAddress } from '../../email.ts'
import { toAsciiDomain } from '../../idn.ts'
import { ENDPOINT } from '../../routes.ts'
import { isMistake, type Outcome, toOutcome } from '../locale.ts'

/** Milliseconds after which an answer is no longer waited for; the service answers within 15 s. */
const TIMEOUT_MS = 20_000

const form = document.querySelector('form') as HTMLFormElement
const field = form.elements.namedItem('email') as HTMLInputElement
const told = document.getElementById('outcome') as HTMLElement
let sending = false

form.addEventListener('submit', (event) => {
  event.preventDefault()
  if (!sending) void subscribe()
})

async function subscribe(): Promise<void> {
  const result = parseAddress(toAsciiDomain(field.value))
  if (!result.ok) return tell(toOutcome(result.reason))
  sending = true
  tell('sending')
  tell(await send(result.value))
  sending = false
}

/** Sends an address. Resolves to what the page has a phrase for, or to a code that it has none for. */
async function send(email: string): Promise<string> {
  const request = {
    method: 'POST',
    headers: { 'Content-Type': ENDPOINT.mediaType },
    body: JSON.stringify({ email }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }
  const response = await fetch(ENDPOINT.path, request).catch(() => undefined)
  if (!response) return 'unreachable'
  if (response.ok) return 'accepted'
  // A proxy in between may answer with something else.
  const body: { readonly message?: string } = await response.json().catch(() => ({}))
  return body.message ?? ''
}

/** Shows an outcome; what was typed stays, unless it was accepted. The phrases are in the page, in its language. */
function tell(outcome: string): void {
  const failure: Outcome = 'storage_failure'
  told.textContent = told.dataset[outcome] ?? told.dataset[failure] ?? ''
  told.dataset.outcome = outcome
  field.setAttribute('aria-invalid', String(isMistake(outcome)))
  if (isMistake(outcome)) field.focus()
  if (outcome === 'accepted') field.value = ''
}
