/**
 * Adds each address to a newsletter of Buttondown, and lists who left: `create_subscriber` and `list_subscribers` in openapi.json of github.com/buttondown/openapi.
 *
 * buttondown.json: { "key": "KEY" }
 */

import { request, requireSettings, runRecipe, toLine } from './recipe.mjs'

/** The codes that are about the address. All others are about the request or the account. */
const REFUSED = ['email_blocked', 'email_empty', 'email_invalid', 'subscriber_blocked']
const EXISTS = ['email_already_exists', 'subscriber_already_exists']
/** The types of subscribers who get no email, and do not want any. */
const LEFT = ['unsubscribed', 'complained', 'removed', 'blocked', 'undeliverable']

await runRecipe('buttondown', (settings) => {
  requireSettings(settings, { key: 'string' })
  // `url` is for tests.
  const { key, url = 'https://api.buttondown.com' } = settings
  const headers = { Authorization: `Token ${key}` }

  async function findKnown(email) {
    const { data } = await request('GET', `${url}/v1/subscribers/${encodeURIComponent(email)}`, { headers })
    return { outcome: LEFT.includes(data.type) ? 'left' : 'known' }
  }

  return {
    async left() {
      const emails = []
      // The type of the filter may be repeated.
      let next = `${url}/v1/subscribers?${LEFT.map((type) => `type=${type}`).join('&')}`
      while (next) {
        const { data } = await request('GET', next, { headers })
        emails.push(...data.results.map(({ email_address }) => email_address))
        // Never another host, which would get the key.
        next = data.next && `${url}${new URL(data.next).pathname}${new URL(data.next).search}`
      }
      return emails
    },
    async send([{ email }]) {
      const options = { headers, body: { email_address: email }, expected: [201, 400, 422] }
      const { status, data } = await request('POST', `${url}/v1/subscribers`, options)
      if (status === 201) return [{ outcome: 'added' }]
      const reason = toLine(data.code ?? JSON.stringify(data.detail))
      if (EXISTS.includes(data.code)) return [await findKnown(email)]
      if (data.code === 'subscriber_suppressed') return [{ outcome: 'left' }]
      // A 422 names the member that does not match its schema.
      const isAddress = status === 422 && data.detail?.every?.(({ loc }) => loc?.includes('email_address'))
      if (isAddress || REFUSED.includes(data.code)) return [{ outcome: 'refused', reason }]
      throw new Error(`Buttondown answered ${status}: ${reason} ${toLine(data.detail)}`)
    },
  }
})
