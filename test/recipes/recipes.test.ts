/** The recipes of the hand-over, against servers that follow the sources of the tools: refusals, repeats, people who left and came back. */

import { expect, onTestFinished, test } from 'bun:test'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
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

/** Addresses with characters that mean something to a shell, to JSON, to a URL or to a filter. */
const EMAILS = ["o'brien@site.io", 'New+%s@site.io', 'Known@site.io', 'left@site.io', 'refused@site.io', 'last@site.io']

/** Starts a tool, and a list with some addresses. `fail` is the number of a request that gets a 503. */
async function createHandOver(
  name: keyof typeof TOOLS,
  emails: readonly string[],
  options: { settings?: object; fail?: number } = {},
) {
  const tool: Tool = TOOLS[name]()
  const problems: string[] = []
  let requests = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (++requests === options.fail) return new Response('over capacity', { status: 503 })
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
  return { tool, problems, fixture, run, file, read }
}

function setPeople({ people }: Tool, states: Readonly<Record<string, State>>): void {
  for (const [email, state] of Object.entries(states)) people.set(email, state)
}

test.each(NAMES)('%s: everybody has an outcome, also after a failure in the middle', async (name) => {
  const { tool, problems, run, read, fixture, file } = await createHandOver(name, EMAILS, {
    fail: name === 'mailchimp' ? 1 : 4,
  })
  setPeople(tool, { 'known@site.io': 'known', 'left@site.io': 'left', 'refused@site.io': 'refused' })

  const failed = await run()
  expect(failed).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(new RegExp(`^${name}: .* answered 503: over capacity\n`)),
  })
  expect([await file('cursor').exists(), await read('left'), await read('refused')]).toEqual([false, '', ''])

  const { code, stderr } = await run()
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringMatching(new RegExp(`^${name}: .*1 left, 1 refused\n`)),
  })
  expect(problems).toEqual([])
  expect(await read('left')).toBe('left@site.io\n')
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

test.each(NAMES)('%s: a person who comes back after leaving is written down', async (name) => {
  const { tool, run, read, fixture } = await createHandOver(name, ['ada@site.io'])
  expect((await run()).code).toBe(0)
  // Ada leaves in the tool, the weekly import suppresses her, and she subscribes again on the form.
  setPeople(tool, { 'ada@site.io': 'left' })
  await fixture.print(['import', '--suppress', '-'], 'ada@site.io\n')
  await fixture.print(['remove', '--forget', 'ada@site.io'])
  await fixture.print(['import', '-'], 'ada@site.io\n')
  expect(await run()).toEqual({ code: 0, stdout: '', stderr: expect.stringContaining(`${name}: 1 left\n`) })
  expect([await read('left'), tool.people.get('ada@site.io')]).toEqual(['ada@site.io\n', 'left'])
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
  ['webhook', { url: 'http://127.0.0.1:1/' }, /^webhook: \S.*\n/],
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

test('mailchimp: a temporary refusal is tried again with the next batch', async () => {
  const { tool, run, read, fixture } = await createHandOver('mailchimp', [
    'busy@site.io',
    'gone@site.io',
    'ada@site.io',
  ])
  setPeople(tool, { 'busy@site.io': 'busy', 'gone@site.io': 'gone' })
  expect((await run()).stderr).toContain('mailchimp: 1 added, 1 left, 1 later\n')
  expect(await read('later')).toBe('busy@site.io\n')
  tool.people.delete('busy@site.io')
  await fixture.print(['import', '-'], 'bob@site.io\n')
  expect((await run()).stderr).toContain('mailchimp: 2 added\n')
  expect([await read('later'), tool.people.get('busy@site.io')]).toEqual(['', 'added'])
})

test('webhook: a repeat has the same id', async () => {
  const { tool, run, file } = await createHandOver('webhook', EMAILS, { fail: 1 })
  expect((await run()).code).toBe(1)
  expect((await run()).code).toBe(0)
  await file('cursor').delete()
  expect((await run()).code).toBe(0)
  const ids = 'ids' in tool ? (tool.ids as string[]) : []
  expect([ids.length, new Set(ids).size, tool.people.size]).toEqual([2, 1, EMAILS.length])
})
