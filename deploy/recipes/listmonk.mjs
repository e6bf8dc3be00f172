/**
 * Adds each address to a list of listmonk, and lists who left: cmd/subscribers.go, internal/core/subscribers.go and queries/subscribers.sql of
 * version 6. Somebody who is known on another list only is added to this one.
 *
 * listmonk.json: { "url": "https://listmonk.example.org", "list": 1, "user": "rollcall", "token": "…" }
 */

import { request, requireSettings, runRecipe, toLine } from './recipe.mjs'

await runRecipe('listmonk', (settings) => {
  requireSettings(settings, { url: 'string', list: 'integer', user: 'string', token: 'string' })
  const { url, list } = settings
  const headers = { Authorization: `Basic ${btoa(`${settings.user}:${settings.token}`)}` }
  let isDoubleOptIn = false
  const isOnList = ({ lists = [] }) => lists.some(({ id }) => id === list)

  /** What listmonk knows of an address. Its search is a regular expression in names and addresses. */
  async function find(email) {
    const search = `^${email.replace(/\W/g, '\\$&')}$`
    const { data } = await request('GET', `${url}/api/subscribers?${new URLSearchParams({ search })}`, { headers })
    const found = data.data.results.find((one) => one.email.toLowerCase() === email.toLowerCase())
    if (!found)
      throw new Error('listmonk knows an address and does not show it: the user needs lists:get_all or manage_all')
    return found
  }

  async function addKnown(email) {
    const { id, status, lists } = await find(email)
    if (status === 'blocklisted') return { outcome: 'left' }
    if (isOnList({ lists })) {
      const { subscription_status } = lists.find((one) => one.id === list)
      return { outcome: subscription_status === 'unsubscribed' ? 'left' : 'known' }
    }
    const body = { ids: [id], action: 'add', target_list_ids: [list], status: 'unconfirmed' }
    await request('PUT', `${url}/api/subscribers/lists`, { headers, body })
    if (isDoubleOptIn) await request('POST', `${url}/api/subscribers/${id}/optin`, { headers, body: {} })
    return { outcome: 'added' }
  }

  /** Finds the subscribers of this list that a filter selects, page by page until one is empty. */
  async function listAll(filter) {
    const emails = []
    for (let page = 1; ; page++) {
      const search = new URLSearchParams({ list_id: list, order_by: 'id', order: 'asc', page, per_page: 50, ...filter })
      const { data } = await request('GET', `${url}/api/subscribers?${search}`, { headers })
      const { results } = data.data
      if (results.length === 0) return emails
      emails.push(...results.map(({ email }) => email))
    }
  }

  return {
    // A bounce may block a person without a change of the subscription.
    left: async () => [
      ...(await listAll({ subscription_status: 'unsubscribed' })),
      ...(await listAll({ query: "subscribers.status = 'blocklisted'" })),
    ],
    // To an unknown list, listmonk adds nobody and answers 200.
    async check() {
      const { data } = await request('GET', `${url}/api/lists/${list}`, { headers })
      isDoubleOptIn = data.data.optin === 'double'
    },
    async send([{ email }]) {
      const body = { email, name: email.replace(/@[^@]*$/, ''), status: 'enabled', lists: [list] }
      const options = { headers, body, expected: [200, 400, 409] }
      const { status, data } = await request('POST', `${url}/api/subscribers`, options)
      if (status === 409) return [await addKnown(email)]
      if (status === 400) return [{ outcome: 'refused', reason: toLine(data.message) }]
      if (!isOnList(data.data))
        throw new Error(`listmonk added an address to no list: may the user manage list ${list}?`)
      return [{ outcome: 'added' }]
    },
  }
})
