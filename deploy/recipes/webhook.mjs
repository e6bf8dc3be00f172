/**
 * Sends a batch to a webhook in one signed request: Standard Webhooks 1.0.0 (github.com/standard-webhooks/standard-webhooks).
 *
 * The id is that of the numbers in the batch. A batch that failed may come again with more people in it, and then it has another
 * id: recognize repeats by `seq`.
 *
 * webhook.json: { "url": "https://hooks.example.org/newsletter", "secret": "whsec_…" }
 */

import { createHash, createHmac } from 'node:crypto'
import { request, requireSettings, runRecipe } from './recipe.mjs'

await runRecipe('webhook', (settings) => {
  requireSettings(settings, { url: 'string', secret: 'string' })
  const key = Buffer.from(settings.secret.replace('whsec_', ''), 'base64')
  return {
    size: Number.POSITIVE_INFINITY,
    async send(subscribers) {
      // The time of the last subscription: it is the same in a repeat.
      const timestamp = subscribers.at(-1).subscribed_at
      const body = JSON.stringify({ type: 'subscribers.added', timestamp, data: { subscribers } })
      const numbers = subscribers.map(({ seq }) => seq).join()
      const id = `rollcall-${createHash('sha256').update(numbers).digest('hex').slice(0, 32)}`
      const now = Math.floor(Date.now() / 1000)
      const signature = createHmac('sha256', key).update(`${id}.${now}.${body}`).digest('base64')
      const headers = { 'webhook-id': id, 'webhook-timestamp': String(now), 'webhook-signature': `v1,${signature}` }
      await request('POST', settings.url, { headers, body })
      return subscribers.map(() => ({ outcome: 'added' }))
    },
  }
})
