/**
 * Adds each address as a member of a Ghost site, and lists the members who get no mail: the Admin API (docs.ghost.org/admin-api), and members-api of Ghost's source.
 *
 * ghost.json: { "url": "https://ghost.example.org", "key": "ID:SECRET" }
 */

import { createHmac } from 'node:crypto'
import { request, requireSettings, runRecipe, toLine } from './recipe.mjs'

await runRecipe('ghost', (settings) => {
  requireSettings(settings, { url: 'string', key: 'string' })
  const [id, secret] = settings.key.split(':')
  if (!/^(?:[0-9a-f]{2})+$/i.test(secret ?? ''))
    throw new Error('"key" in the settings must be an Admin API key: ID:SECRET')
  const members = `${settings.url}/ghost/api/admin/members/`

  /** A token is valid for five minutes. */
  function toHeaders() {
    const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const now = Math.floor(Date.now() / 1000)
    const text = `${encode({ alg: 'HS256', typ: 'JWT', kid: id })}.${encode({ iat: now, exp: now + 300, aud: '/admin/' })}`
    const signature = createHmac('sha256', Buffer.from(secret, 'hex')).update(text).digest('base64url')
    return { Authorization: `Ghost ${text}.${signature}`, 'Accept-Version': 'v5.0' }
  }

  /** A member without a newsletter has left all of them. */
  async function findKnown(email) {
    const filter = `email:'${email.replace(/['\\]/g, '\\$&')}'`
    const url = `${members}?${new URLSearchParams({ filter, include: 'newsletters' })}`
    const [member] = (await request('GET', url, { headers: toHeaders() })).data.members
    const isKept = member?.newsletters?.length > 0 && !member.email_suppression?.suppressed
    return { outcome: isKept ? 'known' : 'left' }
  }

  return {
    // Without such a newsletter, Ghost adds members who get no mail, and answers 201.
    async check() {
      const filter = 'status:active+subscribe_on_signup:true+visibility:members'
      const search = new URLSearchParams({ filter, limit: 1 })
      const { data } = await request('GET', `${settings.url}/ghost/api/admin/newsletters/?${search}`, {
        headers: toHeaders(),
      })
      if (data.newsletters?.length !== 0) return
      throw new Error('no newsletter of Ghost takes new members: turn on "Subscribe new members on signup" of one')
    },
    async left() {
      const emails = []
      // Nobody without a newsletter gets mail, and nobody whose mail bounces or who complained.
      const filter = 'subscribed:false,email_disabled:1'
      for (let page = 1; page; ) {
        const url = `${members}?${new URLSearchParams({ filter, order: 'id asc', limit: 100, page })}`
        const { data } = await request('GET', url, { headers: toHeaders() })
        emails.push(...data.members.map(({ email }) => email))
        page = data.meta.pagination.next
      }
      return emails
    },
    async send([{ email }]) {
      const options = { headers: toHeaders(), body: { members: [{ email }] }, expected: [201, 422] }
      const { status, data } = await request('POST', members, options)
      if (status === 201) return [{ outcome: 'added' }]
      const { message = '', context = '' } = data.errors?.[0] ?? {}
      if (/already exists/i.test(context)) return [await findKnown(email)]
      const reason = toLine(`${message} ${context}`)
      if (!/email/i.test(reason)) throw new Error(`Ghost answered 422: ${reason}`)
      return [{ outcome: 'refused', reason }]
    },
  }
})
