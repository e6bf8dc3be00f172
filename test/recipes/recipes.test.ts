/** The recipes of the hand-over, against servers that follow the sources of the tools: refusals, repeats, people who left and came back. */

import { expect, onTestFinished, test } from 'bun:test'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ADDRESS_PATTERN } from '../../src/email.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { toAddress } from '../store/suite.ts'
import { createCliFixture } from '../support/cli-fixture.ts'
import { ROOT } from '../support/paths.ts'
import {
  createButtondown,
  createGhost,
  createListmonk,
  createMailchimp,
  createWebhook,
  type State,
  type Tool,
} from './tools.ts'

const TOOLS = {
  listmonk: createListmonk,
  ghost: createGhost,
  mailchimp: createMailchimp,
  buttondown: createButtondown,
  webhook: createWebhook,
} as const

const NAMES = ['listmonk', 'ghost', 'mailchimp', 'buttondown'] as const
const ONE_AT_A_TIME = ['listmonk', 'ghost', 'buttondown'] as const

/** Addresses with characters that mean something to a shell, to JSON, to a URL or to a filter. */
const EMAILS = ["o'brien@site.io", 'New+%s@site.io', 'Known@site.io', 'left@site.io', 'refused@site.io', 'last@site.io']

/** Starts a tool, and a list with some addresses. */
async function createHandOver(
  name: keyof typeof TOOLS,
  emails: readonly string[],
  options: { settings?: object } = {},
) {
  const tool: Tool = TOOLS[name]()
  const problems: string[] = []
  /** How many requests the tool answers before all others get a status. */
  const quota = { requests: Number.POSITIVE_INFINITY, status: 503 }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (quota.requests-- <= 0) return new Response('over capacity', { status: quota.status })
      try {
        return await tool.respond(request, request.url)
      } catch (error) {
        problems.push(String(error))
        return new Response('', { status: 500 })
      }
    },
  })
  onTestFinished(() => server.stop(true))
  const fixture = await createCliFixture()
  await fixture.print(['import', '-'], emails.map((email) => `${email}\n`).join(''))
  const settings = { url: `http://127.0.0.1:${server.port}`, ...tool.settings, ...options.settings }
  await fixture.write(`${name}.json`, JSON.stringify(settings))
  const file = (suffix: string) => Bun.file(join(fixture.folder, `${name}.${suffix}`))
  const read = async (suffix: string) => ((await file(suffix).exists()) ? await file(suffix).text() : '')
  const run = (...more: string[]) =>
    fixture.run([
      ...['export', '--format', 'ndjson', '--cursor-file', `${name}.cursor`, '--batch', '500'],
      ...['--exec', `node ${join(ROOT, 'deploy/recipes', `${name}.mjs`)}`, ...more],
    ])
  const sync = () => fixture.shell(`${join(ROOT, 'deploy/recipes/sync')} ${name}`)
  const subscribe = (...more: string[]) => fixture.print(['import', '-'], more.join('\n'))
  /** Subscribes on the form. */
  async function comeBack(email: string): Promise<void> {
    const store = openSqliteStore(join(fixture.folder, 'list.db'), { access: 'change' })
    await store.add([toAddress(email)])
    await store.close()
  }
  const list = async () => (await fixture.rows()).map(({ email }) => email)
  return { tool, problems, quota, fixture, run, sync, subscribe, comeBack, list, file, read }
}

function setPeople({ people }: Tool, states: Readonly<Record<string, State>>): void {
  for (const [email, state] of Object.entries(states)) people.set(email, state)
}

test.each(NAMES)('%s: everybody has an outcome, also after a failure in the middle', async (name) => {
  const { tool, problems, quota, run, read, fixture, file } = await createHandOver(name, EMAILS)
  setPeople(tool, { 'known@site.io': 'known', 'left@site.io': 'left', 'refused@site.io': 'refused' })

  quota.requests = 0
  const failed = await run()
  expect(failed).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(new RegExp(`^${name}: .* answered 503: over capacity\n`)),
  })
  expect([await file('cursor').exists(), await read('left'), await read('refused')]).toEqual([false, '', ''])

  // Four requests are enough for some people, but not for all.
  quota.requests = name === 'mailchimp' ? 0 : 4
  expect((await run()).code).toBe(1)
  expect(await file('cursor').exists()).toBeFalse()

  quota.requests = Number.POSITIVE_INFINITY
  const { code, stderr } = await run()
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(new RegExp(`^${name}: .*1 refused\n`)) })
  expect(problems).toEqual([])
  expect([await read('left'), await file('done').exists()]).toEqual(['left@site.io\n', false])
  expect(await read('refused')).toMatch(/^refused@site\.io\t\S.*\n$/)
  expect((await stat(join(fixture.folder, `${name}.left`))).mode & 0o777).toBe(0o600)
  const added = EMAILS.map((email) => email.toLowerCase()).filter((email) => !/known|left|refused/.test(email))
  expect(
    [...tool.people]
      .filter(([, state]) => state === 'added')
      .map(([email]) => email)
      .sort(),
  ).toEqual(added.sort())

  // A repeat of the whole list changes nothing: who left stays away, and each address is in its file once.
  await file('cursor').delete()
  expect((await run()).code).toBe(0)
  expect([await read('left'), [...tool.people].filter(([, state]) => state === 'added').length]).toEqual([
    'left@site.io\n',
    added.length,
  ])
  expect((await read('refused')).split('\n')).toHaveLength(2)
})

/** Loaded into a recipe: its time limits, of a minute at most, pass a hundred times as fast. */
const FAST_LIMITS = `
const { timeout } = AbortSignal
AbortSignal.timeout = (limit) => {
  if (limit > 60_000) throw new Error('a limit of more than a minute')
  return timeout(limit / 100)
}`

test.each(Object.keys(TOOLS))(
  '%s: a tool that never answers is a failure, and the recipe does not wait',
  async (name) => {
    const silent = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 0,
      fetch: () => new Promise<never>(() => {}),
    })
    onTestFinished(() => silent.stop(true))
    const { fixture } = await createHandOver(name as keyof typeof TOOLS, ['ada@site.io'], {
      settings: { url: `http://127.0.0.1:${silent.port}` },
    })
    await fixture.write('fast-limits.cjs', FAST_LIMITS)
    const recipe = `node --require ./fast-limits.cjs ${join(ROOT, 'deploy/recipes', `${name}.mjs`)}`
    const { code, stderr } = await fixture.run([
      ...['export', '--format', 'ndjson', '--cursor-file', 'cursor', '--exec', recipe],
    ])
    expect([code, stderr]).toEqual([1, expect.stringMatching(new RegExp(`^${name}: .* does not answer: .*timeout`))])
    expect(existsSync(join(fixture.folder, 'cursor'))).toBeFalse()
  },
)

test.each(ONE_AT_A_TIME)('%s: a rate limit delays people, and each run goes on after the last one', async (name) => {
  const people = Array.from({ length: 40 }, (_, index) => `p${index}@site.io`)
  const { tool, quota, run, file } = await createHandOver(name, people)
  quota.status = 429
  const counts: number[] = []
  for (let runs = 0; runs < 6 && !(await file('cursor').exists()); runs++) {
    quota.requests = 12
    const { code, stderr } = await run()
    counts.push(tool.people.size)
    if (code !== 0) expect(stderr).toContain('answered 429 (its rate limit; the next run goes on): over capacity')
  }
  // One request of each run may be the check.
  expect(counts).toHaveLength(4)
  expect(tool.people.size).toBe(people.length)
})

test.each(ONE_AT_A_TIME)(
  '%s: a key that is taken back is no refusal, and a tool that is down is not asked for each',
  async (name) => {
    const people = Array.from({ length: 40 }, (_, index) => `p${index}@site.io`)
    const { quota, run, read, file } = await createHandOver(name, people)
    for (const [status, most] of [
      [401, 1],
      [503, 3],
    ] as const) {
      quota.status = status
      quota.requests = 12
      expect(await run()).toMatchObject({ code: 1, stderr: expect.stringContaining(` answered ${status}`) })
      expect([await read('refused'), await file('cursor').exists()]).toEqual(['', false])
      expect(-quota.requests, String(status)).toBeWithin(1, most + 1)
    }
  },
)

test.each(ONE_AT_A_TIME)('%s: an error for one person is a refusal, and stops nobody', async (name) => {
  const { tool, run, read, subscribe } = await createHandOver(name, ['bad@site.io', 'ada@site.io'])
  setPeople(tool, { 'bad@site.io': 'broken' })
  const { code, stderr } = await run()
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(`${name}: 1 added, 1 refused\n`) })
  expect(tool.people.get('ada@site.io')).toBe('added')
  expect(await read('refused')).toMatch(/^bad@site\.io\t127\.0\.0\.1:\d+ answered 500: .*…/)
  // Alone, nobody says that it is the person: the next one shows it.
  setPeople(tool, { 'worse@site.io': 'broken' })
  await subscribe('worse@site.io')
  expect(await run()).toMatchObject({ code: 1, stderr: expect.stringContaining(' answered 500: ') })
  await subscribe('bob@site.io')
  expect((await run()).stderr).toContain(`${name}: 1 added, 1 refused\n`)
})

test.each(NAMES)(
  '%s: sync suppresses who left there, and people who came back stay and are written down',
  async (name) => {
    const people = ['ada', 'bob', 'cyd', 'dan', 'eve'].map((one) => `${one}@site.io`)
    const { tool, sync, subscribe, comeBack, list, read } = await createHandOver(name, people)
    expect(await sync()).toMatchObject({ code: 0, stderr: expect.stringContaining(`${name}: 5 added\n`) })
    setPeople(tool, { 'ada@site.io': 'left', 'bob@site.io': 'left', 'cyd@site.io': 'left', 'dan@site.io': 'gone' })
    // They are no subscribers of Rollcall. The second one could be read as two people.
    setPeople(tool, { 'stranger@site.io': 'left', '"eve@site.io, x"@site.io': 'left' })
    expect(await sync()).toMatchObject({ code: 0, stderr: expect.stringContaining('(4 removed from the list)\n') })
    expect(await list()).toEqual(['eve@site.io'])
    // Ada comes back: she stays, also in later runs, and the tool still has to ask her.
    await subscribe('fay@site.io')
    await sync()
    setPeople(tool, { 'fay@site.io': 'left' })
    await comeBack('ada@site.io')
    for (let runs = 0; runs < 3; runs++) expect((await sync()).code).toBe(0)
    expect([await list(), await read('left')]).toEqual([['eve@site.io', 'ada@site.io'], 'ada@site.io\n'])
    // She is on the list of the tool again, and leaves once more.
    setPeople(tool, { 'ada@site.io': 'known' })
    expect((await sync()).code).toBe(0)
    expect(await read('left')).toBe('')
    setPeople(tool, { 'ada@site.io': 'left' })
    expect((await sync()).code).toBe(0)
    expect(await list()).toEqual(['eve@site.io'])
  },
)

test.each(NAMES)('%s: a failure while the people who left are listed changes nothing', async (name) => {
  const { tool, quota, sync, list, fixture, subscribe } = await createHandOver(
    name,
    ['ada', 'bob', 'cyd'].map((one) => `${one}@site.io`),
  )
  expect((await sync()).code).toBe(0)
  setPeople(tool, { 'ada@site.io': 'left', 'bob@site.io': 'left', 'cyd@site.io': 'left' })
  await subscribe('new@site.io')
  quota.requests = 1
  expect(await sync()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(new RegExp(`^${name}: .* answered 503`)),
  })
  expect([await list(), tool.people.has('new@site.io')]).toEqual([
    ['ada@site.io', 'bob@site.io', 'cyd@site.io', 'new@site.io'],
    false,
  ])
  quota.requests = Number.POSITIVE_INFINITY
  expect((await sync()).code).toBe(0)
  expect([await list(), tool.people.has('new@site.io')]).toEqual([['new@site.io'], true])
  expect(await fixture.print(['count'])).toStartWith('1')
})

test.each(NAMES)('%s: a whole batch that is refused is a failure, and nobody is written down', async (name) => {
  const { tool, run, read, file } = await createHandOver(name, ['a@site.io', 'b@site.io'])
  setPeople(tool, { 'a@site.io': 'refused', 'b@site.io': 'refused' })
  const { code, stderr } = await run()
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining(`${name}: all 2 addresses were refused: `),
  })
  expect([await file('cursor').exists(), await read('refused')]).toEqual([false, ''])
  expect(stderr).not.toMatch(/[ab]@site\.io|\n +at /)
})

test.each([
  ['listmonk', { list: 2 }, /answered 400: .*List not found/],
  ['listmonk', { list: 'Readers' }, /"list" in the settings must be a whole number/],
  ['listmonk', { token: 'WRONG' }, /answered 403/],
  ['ghost', { key: 'KEY' }, /"key" in the settings must be an Admin API key/],
  ['mailchimp', { key: '' }, /"key" in the settings must be a string/],
  ['buttondown', { key: 'WRONG' }, /answered 401: .*Invalid token/],
  ['webhook', { url: 'http://127.0.0.1:1/' }, /^webhook: 127\.0\.0\.1:1 does not answer: \S.*\n/],
] as const)('%s with %j fails with one line, and the cursor stays', async (name, settings, message) => {
  const { run, file } = await createHandOver(name, ['ada@site.io'], { settings })
  const { code, stderr } = await run()
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(message) })
  expect(stderr.trim().split('\n')).toHaveLength(2)
  expect(await file('cursor').exists()).toBeFalse()
})

test('listmonk: a person who is known on another list is added, and asked for a confirmation', async () => {
  const { tool, run } = await createHandOver('listmonk', ['ada@site.io', 'bob@site.io'])
  setPeople(tool, { 'ada@site.io': 'elsewhere' })
  expect((await run()).stderr).toContain('listmonk: 2 added\n')
  expect([tool.people.get('ada@site.io'), 'optins' in tool && tool.optins]).toEqual(['added', 1])
})

test('mailchimp: a temporary refusal is a refusal, so that nobody is added later who was removed meanwhile', async () => {
  const { tool, run, read, subscribe } = await createHandOver('mailchimp', [
    'busy@site.io',
    'gone@site.io',
    'ada@site.io',
  ])
  setPeople(tool, { 'busy@site.io': 'busy', 'gone@site.io': 'gone' })
  expect((await run()).stderr).toContain('mailchimp: 1 added, 1 left, 1 refused\n')
  expect(await read('refused')).toMatch(/^busy@site\.io\t… has signed up to a lot of lists/)
  tool.people.delete('busy@site.io')
  await subscribe('bob@site.io')
  expect((await run()).stderr).toContain('mailchimp: 1 added\n')
  expect(tool.people.has('busy@site.io')).toBeFalse()
})

test('ghost: without a newsletter for new members, nobody is added, and the setting is named', async () => {
  const { tool, run } = await createHandOver('ghost', ['ada@site.io'])
  Object.assign(tool, { hasNewsletter: false })
  const message = 'ghost: no newsletter of Ghost takes new members: turn on "Subscribe new members on signup" of one\n'
  expect(await run()).toMatchObject({ code: 1, stderr: expect.stringContaining(message) })
  expect(tool.people.size).toBe(0)
})

test('settings that cannot be read or are no object are named as what they are', async () => {
  const { run, fixture } = await createHandOver('ghost', ['ada@site.io'])
  for (const text of ['', 'null', '{']) {
    await fixture.write('ghost.json', text)
    expect((await run()).stderr).toStartWith('ghost: ghost.json is not a JSON object\n')
  }
  rmSync(join(fixture.folder, 'ghost.json'))
  expect((await run()).stderr).toStartWith('ghost: there is no ghost.json in this folder\n')
  mkdirSync(join(fixture.folder, 'ghost.json'))
  expect((await run()).stderr).toStartWith('ghost: ghost.json cannot be read: EISDIR\n')
})

test('the addresses that a recipe lists are those of the contract', async () => {
  const { PLAIN_ADDRESS } = await import(join(ROOT, 'deploy/recipes/recipe.mjs'))
  // They escape different characters, which means the same.
  const bare = ADDRESS_PATTERN.replaceAll('\\s*', '').replaceAll('\\', '')
  expect(PLAIN_ADDRESS.source.replaceAll('\\', '')).toBe(bare)
})

test('webhook: a repeat has the same id', async () => {
  const { tool, quota, run, file } = await createHandOver('webhook', EMAILS)
  quota.requests = 0
  expect((await run()).code).toBe(1)
  quota.requests = 2
  expect((await run()).code).toBe(0)
  await file('cursor').delete()
  expect((await run()).code).toBe(0)
  const ids = 'ids' in tool ? (tool.ids as string[]) : []
  expect([ids.length, new Set(ids).size, tool.people.size]).toEqual([2, 1, EMAILS.length])
})

test('a tool that redirects elsewhere gets no secret there: the batch fails, and the cursor stays', async () => {
  const seen: string[] = []
  const elsewhere = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      seen.push(request.url)
      return Response.json({})
    },
  })
  onTestFinished(() => elsewhere.stop(true))
  for (const name of [...NAMES, 'webhook'] as const) {
    const { tool, run, file } = await createHandOver(name, ['ada@site.io'])
    tool.respond = () => Response.redirect(`http://127.0.0.1:${elsewhere.port}/`, 307)
    expect([name, await run()]).toEqual([name, expect.objectContaining({ code: 1 })])
    expect([name, await file('cursor').exists()]).toEqual([name, false])
  }
  expect(seen).toEqual([])
})
