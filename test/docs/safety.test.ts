/** What the guides let an owner run gives nobody more rights than it must, and the numbers that they promise are those of the code. */

import { expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { engines } from '../../package.json' with { type: 'json' }
import { createPrivateFile } from '../../src/files.ts'
import { STOP_DEADLINE_MS } from '../../src/limits.ts'
import { VERSIONS } from '../../src/store/postgres/checks.ts'
import { IDLE_S } from '../../src/store/postgres/client.ts'
import { createFolder as createListFolder } from '../../src/store/sqlite/paths.ts'
import { findBlock, MARKDOWN_FILES, readBlocks, readProse, readText } from '../support/markdown.ts'
import { runCommand } from '../support/service.ts'
import { createFolder } from '../support/workspace.ts'

const GUIDES = MARKDOWN_FILES.filter((file) => /^(?:docs\/[^/]*|README)\.md$/.test(file))
const BLOCKS = GUIDES.flatMap(readBlocks)

/** What a pattern finds in the guides, each once. */
function findAll(pattern: RegExp): string[] {
  const found = GUIDES.flatMap((file) => [...readText(file).matchAll(pattern)].map(([whole, part]) => part ?? whole))
  return [...new Set(found)].sort()
}

test('no mode in a guide lets other users write, and only what a container must read is readable for all', () => {
  expect(findAll(/(?:\binstall [^\n]*?-m |--mode |mkdir -m )(\d+)/g)).toEqual(['600', '640', '700', '750'])
  expect(findAll(/chmod (-R \S+|[^\s`]+)/g)).toEqual(['-R a+rX', '440', '600', 'a+r', 'go='])
  // The permission to read the list of old subscribers is taken back.
  const { text } = findBlock('docs/containers.md', 'sh', 'import')
  expect(text).toMatch(/^chmod a\+r (\S+)\n[\s\S]*\nchmod go= \1\n$/)
})

test('what has addresses, a password or a key is written by a guide for its owner alone', () => {
  const { text: move } = findBlock('docs/operations.md', 'sh', 'old-server')
  expect(move).toMatch(/umask 077; tar -czf move\.tgz/)
  for (const name of ['move', 'restic-init.sh']) {
    const file = name === 'move' ? 'docs/postgres.md' : 'docs/backup.md'
    expect(findBlock(file, 'sh', name).text).toContain('umask 077;')
  }
  const { text: secrets } = findBlock('docs/containers.md', 'sh', 'postgres')
  expect(secrets).toStartWith('mkdir -m 700 secrets\n')
})

test('no port of a guide is open to the network', () => {
  const published = BLOCKS.flatMap(({ text }) => [...text.matchAll(/--publish (\S+)/g)].map(([, port]) => port))
  expect(published.length).toBeGreaterThan(1)
  const ports = [...published, ...findAll(/ports: \["([^"]+)"\]/g)]
  expect(ports.filter((port) => !port?.startsWith('127.0.0.1:'))).toEqual([])
})

test('no guide names the server of somebody else: a command that is run as it is reaches nobody', () => {
  const hosts = BLOCKS.flatMap(({ text }) => [...text.matchAll(/\bhttps?:\/\/([\w.-]+)/g)].map(([, host = '']) => host))
  expect(hosts.length).toBeGreaterThan(10)
  const isOurs = (host: string) => /(?:^|\.)example(?:\.org)?\.?$|^(?:localhost|127\.0\.0\.1|rollcall)$/.test(host)
  expect([...new Set(hosts.filter((host) => !isOurs(host)))]).toEqual([])
})

test('a guide that replaces or moves a list stops the service first, and starts it again', () => {
  expect(findBlock('docs/backup.md', 'sh', 'put-back').text).toMatch(
    /^sudo systemctl stop rollcall\nsudo rollcall restore \S+\nsudo systemctl start rollcall\n$/,
  )
  expect(findBlock('docs/containers.md', 'sh', 'restore').text).toMatch(
    /\ndocker compose stop rollcall\ndocker compose run .* restore .*\ndocker compose up --detach rollcall\n/,
  )
  expect(findBlock('docs/postgres.md', 'sh', 'move').text).toStartWith('sudo systemctl stop rollcall\n')
  expect(findBlock('docs/containers.md', 'sh', 'postgres-move').text).toStartWith('docker compose stop rollcall ')
  expect(readProse('docs/containers.md').replace(/\s+/g, ' ')).toContain('Do not run `docker compose down --volumes`')
})

/** Where a guide promises what is set in another place: the words around the number, and the number. */
const PROMISES: readonly (readonly [file: string, words: RegExp, numbers: readonly number[]])[] = [
  ['docs/postgres.md', /on PostgreSQL (\d+) to (\d+)\./, [VERSIONS.first, VERSIONS.last]],
  ['docs/postgres.md', /connection that is idle for (\d+) s/, [IDLE_S]],
  ['docs/install.md', /which needs Node (\d+) or later/, [readNumber(engines.node)]],
  [
    'docs/hand-over.md',
    /`sync` hands over (\d+) people/,
    [readNumber(readText('deploy/recipes/sync'), /--batch (\d+)/)],
  ],
  [
    'docs/deploy.md',
    /unit allows ([\d,]+) of them/,
    [readNumber(readText('deploy/rollcall.service'), /LimitNOFILE=(\d+)/)],
  ],
  // The new copy, and 13 others.
  [
    'docs/operations.md',
    /backups of (\d+) days/,
    [1 + readNumber(readText('deploy/rollcall-backup.service'), /head -n -(\d+)/)],
  ],
]

function readNumber(text: string, pattern = /(\d+)/): number {
  return Number(pattern.exec(text)?.[1])
}

test.each(PROMISES)('%s: %s', (file, words, numbers) => {
  const [, ...found] = words.exec(readText(file)) ?? []
  expect(found.map((text) => Number(text.replaceAll(',', '')))).toEqual([...numbers])
})

test('a guide gives a container as long to stop as the service needs', () => {
  const seconds = findAll(/docker stop --time (\d+)/g).map(Number)
  expect(seconds.length).toBeGreaterThan(0)
  for (const time of seconds) expect(time * 1000).toBeGreaterThan(STOP_DEADLINE_MS)
})

test('each alert of the guide says the time after which its rule fires', () => {
  const rules = readText('deploy/alerts.yml')
  const find = (name: string, pattern: RegExp) => pattern.exec(rules.slice(rules.indexOf(`alert: ${name}\n`)))?.[1]
  const row = (name: string) =>
    readText('docs/operations.md')
      .split('\n')
      .find((line) => line.startsWith(`| \`${name}\``))
  expect(row('RollcallDown')).toContain(`for ${find('RollcallDown', /for: (\d+)m/)} minutes`)
  expect(row('RollcallNotReady')).toContain(`for ${find('RollcallNotReady', /for: (\d+)m/)} minutes`)
  expect(row('RollcallDiskFull')).toContain(
    `less than ${Number(find('RollcallDiskFull', /< (\S+)/)) / 1e9} GB free for ${find('RollcallDiskFull', /for: (\d+)m/)} minutes`,
  )
  expect(row('RollcallNoAcceptance')).toContain(`for ${find('RollcallNoAcceptance', /\[(\d+)h\]/)} hours`)
})

test('the guides say which modes the files of Rollcall have', async () => {
  const folder = await createFolder()
  createListFolder(join(folder, 'data'))
  createPrivateFile(join(folder, 'data/list.csv'))
  const modes = ['data/list.csv', 'data'].map((name) => (statSync(join(folder, name)).mode & 0o777).toString(8))
  const [, file, parent] =
    /every file with addresses with mode 0(\d+), and every folder with 0(\d+)/.exec(readText('docs/security.md')) ?? []
  expect(modes).toEqual([file ?? '', parent ?? ''])
  expect(findAll(/files have mode 0(\d+), and folders 0\d+/g)).toEqual(['600'])
})

test('the line of cron that mails what doctor finds looks for the words that doctor prints', async () => {
  const { text } = findBlock('docs/operations.md', 'sh', 'cron')
  const [, pattern = 'no pattern'] = /\|\| grep '([^']+)'/.exec(text) ?? []
  const { code, stdout } = await runCommand(['doctor', '--list', 'sqlite:none.db'], { folder: await createFolder() })
  expect([code, stdout]).toEqual([1, expect.stringContaining(pattern)])
})
