/**
 * Adds up to 500 addresses to an audience of Mailchimp in one request, and lists who left: "Batch subscribe or unsubscribe" and
 * "List members info" of the Marketing API 3.0.
 *
 * mailchimp.json: { "key": "KEY-us6", "audience": "ID" }; "status": "pending" asks each person for a confirmation.
 */

import { createHash } from 'node:crypto'
import { request, requireSettings, runRecipe, toLine } from './recipe.mjs'

await runRecipe('mailchimp', (settings) => {
  requireSettings(settings, { key: 'string', audience: 'string' })
  const { key, audience, status = 'subscribed' } = settings
  // The end of the key names the data center. `url` is for tests.
  const { url = `https://${key.split('-').at(-1)}.api.mailchimp.com` } = settings
  const list = `${url}/3.0/lists/${audience}`
  const headers = { Authorization: `Basic ${btoa(`rollcall:${key}`)}` }

  async function findKnown(email) {
    const hash = createHash('md5').update(email.toLowerCase()).digest('hex')
    const { data } = await request('GET', `${list}/members/${hash}?fields=status`, { headers })
    return { outcome: ['subscribed', 'pending'].includes(data.status) ? 'known' : 'left' }
  }

  async function toOutcome(email, answer) {
    if (!answer) return { outcome: 'added' }
    const reason = toLine(answer.error)
    if (answer.error_code === 'ERROR_CONTACT_EXISTS') return await findKnown(email)
    if (/compliance state|permanently deleted/i.test(reason)) return { outcome: 'left' }
    if (/merge field/i.test(reason)) throw new Error(`Mailchimp refuses the fields of the audience: ${reason}`)
    return { outcome: 'refused', reason }
  }

  /** Lists the members with a status, in pages of 1000, the most that Mailchimp gives. */
  async function listMembers(status) {
    const emails = []
    const fields = 'members.email_address'
    for (;;) {
      const search = new URLSearchParams({
        status,
        fields,
        count: 1000,
        offset: emails.length,
        sort_field: 'timestamp_signup',
      })
      const { data } = await request('GET', `${list}/members?${search}`, { headers })
      if (data.members.length === 0) return emails
      emails.push(...data.members.map(({ email_address }) => email_address))
    }
  }

  return {
    // A person who complained is unsubscribed, and one whose mail bounces is cleaned.
    left: async () => [...(await listMembers('unsubscribed')), ...(await listMembers('cleaned'))],
    size: 500,
    async send(people) {
      const members = people.map(({ email }) => ({ email_address: email, status }))
      // A required field of the audience has no value here.
      const body = { members, update_existing: false }
      const { data } = await request('POST', `${list}?skip_merge_validation=true`, { headers, body })
      const errors = new Map(data.errors.map((error) => [error.email_address.toLowerCase(), error]))
      const results = []
      for (const { email } of people) results.push(await toOutcome(email, errors.get(email.toLowerCase())))
      return results
    },
  }
})
