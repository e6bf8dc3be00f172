/** The recipe for programs that know only members. Mailman and mlmmj themselves: `npm run test:only -- receivers`. */

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { createCliFixture } from '../support/cli-fixture.ts'
import { findBlock } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'

/** Its members are the lines of a file. It skips an address with a number sign in silence, and ends at one with a slash. */
const PROGRAM = {
  add: 'while read -r a; do case $a in "#"*) ;; /*) echo "no: $a"; exit 1 ;; *) echo "$a" >> there ;; esac; done',
  list: 'touch there; sed "s/.*/Reader <&>/" there',
}

async function createMembers(emails: readonly string[], settings: object = PROGRAM) {
  const fixture = await createCliFixture()
  const subscribe = (...more: readonly string[]) => fixture.print(['import', '-'], more.join('\n'))
  await subscribe(...emails)
  await fixture.write('members.json', JSON.stringify(settings))
  const sync = () => fixture.shell(`${join(ROOT, 'deploy/recipes/sync')} members`)
  const list = async () => (await fixture.rows()).map(({ email }) => email)
  const read = async (name: string) => {
    const file = Bun.file(join(fixture.folder, name))
    return (await file.exists()) ? (await file.text()).split('\n').filter(Boolean) : []
  }
  return { ...fixture, subscribe, sync, list, read }
}

test('members: an address that the program skips or ends at is written down, and stops nobody', async () => {
  const emails = [
    'ada@site.io',
    '#tag@site.io',
    '/x/y@site.io',
    `|touch\${IFS}ran@site.io`,
    '`touch`@site.io',
    'dana@site.io',
  ]
  const { sync, list, read } = await createMembers(emails)
  expect(await sync()).toMatchObject({ code: 0, stderr: expect.stringContaining('members: 4 added, 2 refused\n') })
  expect(await read('there')).toEqual(['ada@site.io', `|touch\${IFS}ran@site.io`, '`touch`@site.io', 'dana@site.io'])
  expect(await read('members.refused')).toEqual(['#tag@site.io\tit is no member afterwards', '/x/y@site.io\tno: …'])
  // They were handed over, and are no members, but they have not left.
  expect((await sync()).code).toBe(0)
  expect(await list()).toEqual(emails)
})

test('members: who was handed over and is no member now has left; new people, and who comes back, stay', async () => {
  const { sync, subscribe, list, read, shell, print } = await createMembers([
    'ada@site.io',
    'Bob@site.io',
    'cyd@site.io',
  ])
  expect((await sync()).code).toBe(0)
  await subscribe('new@site.io')
  await shell("sed -i '/Bob/d' there")
  expect(await sync()).toMatchObject({ code: 0, stderr: expect.stringContaining('(1 removed from the list)\n') })
  expect(await list()).toEqual(['ada@site.io', 'cyd@site.io', 'new@site.io'])
  await print(['remove', '--forget', 'bob@site.io'])
  await subscribe('bob@site.io')
  expect((await sync()).code).toBe(0)
  expect(await list()).toContain('bob@site.io')
  expect(await read('there')).toEqual(['ada@site.io', 'cyd@site.io', 'new@site.io', 'bob@site.io'])
})

test('members: a list of members that is lost removes nobody, until the owner says so', async () => {
  const people = Array.from({ length: 40 }, (_, index) => `p${index}@site.io`)
  const { sync, list, shell } = await createMembers(people)
  expect((await sync()).code).toBe(0)
  await shell("sed -i '/p[123]/d' there")
  const says = 'members: 33 of 40 people are no members now: '
  expect(await sync()).toMatchObject({ code: 1, stderr: expect.stringContaining(says) })
  expect(await list()).toHaveLength(40)
  const recipe = `ROLLCALL=$program node ${join(ROOT, 'deploy/recipes/members.mjs')} left all`
  await shell(`${recipe} | rollcall import - --suppress --yes --cursor-file members.cursor`)
  expect(await list()).toHaveLength(7)
  expect((await sync()).code).toBe(0)
})

test.each([
  [{ list: 'echo broken; exit 3' }, 'members: the command "list" ended with 3: broken\n'],
  [{ add: 'echo broken; exit 3' }, 'members: the command "add" added nobody: broken\n'],
  [{ add: 'no-such-program' }, 'members: the command "add" added nobody: '],
  [{ add: '' }, 'members: "add" in the settings must be a string\n'],
])('members: a command that fails stops with one line: %j', async (settings, says) => {
  const { sync, read } = await createMembers(['ada@site.io', 'bob@site.io'], { ...PROGRAM, ...settings })
  expect(await sync()).toMatchObject({ code: 1, stderr: expect.stringContaining(says) })
  expect([await read('members.cursor'), await read('members.refused')]).toEqual([[], []])
})

/** Loaded into the recipe: its limit for a command passes a hundred times as fast. */
const FAST_LIMITS = `
const processes = require('node:child_process')
const { spawnSync } = processes
processes.spawnSync = (file, args, options) => spawnSync(file, args, { ...options, timeout: options.timeout / 100 })
require('node:module').syncBuiltinESMExports()`

test.each(['add', 'list'])('members: a command "%s" that does not end is a failure after 300 s', async (name) => {
  const { run, write, read } = await createMembers(['ada@site.io'], { ...PROGRAM, [name]: 'exec sleep 60' })
  await write('fast-limits.cjs', FAST_LIMITS)
  const recipe = `node --require ./fast-limits.cjs ${join(ROOT, 'deploy/recipes/members.mjs')}`
  const start = performance.now()
  const { code, stderr } = await run([
    ...['export', '--format', 'ndjson', '--cursor-file', 'members.cursor', '--exec', recipe],
  ])
  // The rest is for a busy machine.
  expect(performance.now() - start).toBeWithin(3_000, 20_000)
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^members: .*ETIMEDOUT/)])
  expect(await read('members.cursor')).toEqual([])
})

test('the command of the guide writes refusals down, goes on, and fails when all are refused', async () => {
  const { run, write, read, print, subscribe, shell } = await createMembers([
    'ada@site.io',
    '/x/y@site.io',
    'dana@site.io',
  ])
  await write('subscribe-all', findBlock('docs/hand-over.md', 'sh', 'subscribe-all').text)
  await write('subscribe', '#!/bin/sh\ncase $1 in /*) exit 1 ;; *) echo "$1" >> there ;; esac\n')
  await shell('chmod +x subscribe subscribe-all')
  const args = ['export', '--cursor-file', 'c', '--format', 'txt', '--exec', './subscribe-all']
  await print(args)
  expect([await read('there'), await read('refused.txt')]).toEqual([['ada@site.io', 'dana@site.io'], ['/x/y@site.io']])
  await subscribe('/z@site.io')
  expect((await run(args)).code).toBe(1)
  await subscribe('new@site.io')
  expect((await run(args)).code).toBe(0)
  expect(await read('refused.txt')).toEqual(['/x/y@site.io', '/z@site.io'])
})
