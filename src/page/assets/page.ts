/** The script of the page: sends the form to the endpoint and shows the outcome. Without it, the form posts to its own page. */

import { parseUnicodeAddress } from '../../idn.ts'
import { RESPONSE_TIMEOUT_MS } from '../../limits.ts'
import { ENDPOINT } from '../../routes.ts'
import { isMistake, type Outcome, toOutcome } from '../locale.ts'

const form = document.querySelector('form') as HTMLFormElement
const field = form.elements.namedItem('email') as HTMLInputElement
const status = document.getElementById('outcome') as HTMLElement
let sending = false

form.addEventListener('submit', (event) => {
  event.preventDefault()
  if (!sending) void subscribe()
})

async function subscribe(): Promise<void> {
  const result = parseUnicodeAddress(field.value)
  if (!result.ok) return show(toOutcome(result.reason))
  sending = true
  show('sending')
  show(await send(result.value))
  sending = false
}

/** Sends an address. Resolves to an outcome, or to a code without a phrase. */
async function send(email: string): Promise<string> {
  const request = {
    method: 'POST',
    headers: { 'Content-Type': ENDPOINT.mediaType },
    body: JSON.stringify({ email }),
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
  }
  const response = await fetch(ENDPOINT.path, request).catch(() => undefined)
  if (!response) return 'unreachable'
  if (response.ok) return 'accepted'
  // The response of a proxy may not be JSON.
  const body: { readonly message?: string } = await response.json().catch(() => ({}))
  return body.message ?? ''
}

/** Shows an outcome with its phrase, which is in the page. Clears the field only if the address was accepted. */
function show(outcome: string): void {
  const failure: Outcome = 'storage_failure'
  status.textContent = status.dataset[outcome] ?? status.dataset[failure] ?? ''
  status.dataset.outcome = outcome
  field.setAttribute('aria-invalid', String(isMistake(outcome)))
  if (isMistake(outcome)) field.focus()
  if (outcome === 'accepted') field.value = ''
}
