/** The recipes of docs/hand-over.md, against a server that checks each request as the service documents it. */

import { expect, onTestFinished, test } from 'bun:test'
import { chmod, mkdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type CliFixture, createCliFixture } from '../support/cli-fixture.ts'
import { REFUSED, SECRETS, type ServiceName, startMailServices } from '../support/mail-services.ts'
import { findBlock, readBlocks } from '../support/markdown.ts'
import { toSupportFile } from '../support/paths.ts'

const DOCUMENT = 'docs/hand-over.md'

/** The part of the URL of each service that the test replaces, and the file of its secret. */
const SERVICES = [
  ['webhook', 'https://hooks.example.org', 'webhook.secret', SECRETS.webhook],
  ['listmonk', 'https://listmonk.example.org', 'listmonk.curl', `user = "${SECRETS.listmonk}"`],
  ['ghost', 'https://ghost.example.org', 'ghost.key', SECRETS.ghost],
  ['mailchimp', 'https://us6.api.mailchimp.com', 'mailchimp.curl', `user = "${SECRETS.mailchimp}"`],
  [
    'buttondown',
    'https://api.buttondown.com',
    'buttondown.curl',
    `header = "Authorization: Token ${SECRETS.buttondown}"`,
  ],
] as const

/** Addresses with every character that means something to a shell, to sed, to printf or to JSON. */
const EMAILS = ["o'brien@site.io", '%s&{a}$HOME`id`@site.io', REFUSED, 'Known@site.io', '*?#!=^~|/+-_@site.io']

test.each(SERVICES)('%s: everybody arrives, also after a failure in the middle', async (name, origin, file, secret) => {
  const services = startMailServices()
  onTestFinished(() => services.stop())
  const fixture = await createCliFixture()
  await fixture.print(['import', '-'], EMAILS.map((email) => `${email}\n`).join(''))
  await fixture.write(file, `${secret}\n`)
  const { text } = findBlock(DOCUMENT, 'sh', `${name}.sh`)
  expect(text).toContain(origin)
  await fixture.write(`${name}.sh`, text.replace(origin, services.origin))
  await addCurl(fixture)
  const isBatch = name === 'webhook' || name === 'mailchimp'
  if (name !== 'webhook') services.members[name].add('known@site.io')

  services.failAfter = isBatch ? 0 : 2
  services.failures = 1
  const failed = await fixture.shell(toCommand(name))
  expect(failed).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/answered 503\nrollcall: subscribers \d+ to/),
  })
  expect(await Bun.file(join(fixture.folder, `${name}.cursor`)).exists()).toBeFalse()

  expect(await fixture.shell(toCommand(name))).toEqual({
    code: 0,
    stdout: '',
    stderr: expect.stringContaining('5 addresses exported\n'),
  })
  expect(services.problems).toEqual([])
  const accepted = EMAILS.map((email) => email.toLowerCase()).filter((email) => name === 'webhook' || email !== REFUSED)
  expect([...services.members[name]].sort()).toEqual(accepted.sort())
  if (name === 'webhook') {
    const [id = ''] = services.webhookIds
    expect(id).toMatch(/^rollcall-\d+-\d+$/)
    expect(services.webhookIds).toEqual([id, id])
  } else expect(await readFile(join(fixture.folder, `${name}.refused`), 'utf8')).toStartWith(REFUSED)
})

/** The block that runs a recipe. */
function toCommand(name: ServiceName): string {
  const block = readBlocks(DOCUMENT).find(({ text }) => text.includes(`--exec ./${name}.sh`))
  return `PATH=$PWD/bin:$PATH; npx() { shift; rollcall "$@"; }; set -e; ${block?.text}`
}

/** On a machine without curl, puts our own in its place. */
async function addCurl({ folder, write }: CliFixture): Promise<void> {
  await mkdir(join(folder, 'bin'))
  if (Bun.which('curl') !== null) return
  await symlink(process.execPath, join(folder, 'bin/bun'))
  await write('bin/curl', `#!/bin/sh\nexec bun ${toSupportFile('curl.ts')} "$@"\n`)
  await chmod(join(folder, 'bin/curl'), 0o755)
}
