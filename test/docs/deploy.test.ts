/** The files of deploy/ are well formed and fit the service. nginx and Caddy themselves are not run here. */

import { expect, onTestFinished, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig } from '../../src/config/config.ts'
import { MAX_BODY_BYTES, STOP_DEADLINE_MS } from '../../src/limits.ts'
import { ENDPOINT } from '../../src/routes.ts'
import { readText } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'
import { createFolder } from '../support/service.ts'

const UNIT = 'deploy/rollcall.service'
const HOME = '/opt/rollcall/'
const { port } = readConfig({ SITE_FILE: '/dev/null' })

test('every file of deploy/ has a test here', () => {
  expect(readdirSync(join(ROOT, 'deploy')).sort()).toEqual(['Caddyfile', 'nginx.conf', 'rollcall.service'])
})

test('rollcall.service: its settings are valid, it names files that exist, and a stop has enough time', () => {
  const lines = readText(UNIT).split('\n')
  const read = (key: string) =>
    lines.filter((line) => line.startsWith(`${key}=`)).map((line) => line.slice(key.length + 1))
  const settings = Object.fromEntries(read('Environment').map((line) => line.split(/=(.*)/s).slice(0, 2)))
  expect(readConfig(settings)).toMatchObject({ host: '127.0.0.1', baseUrl: 'https://list.example.org' })
  const [command = ''] = read('ExecStart')
  const files = command.split(' ').filter((word) => word.includes('/'))
  expect(files.length).toBe(2)
  for (const file of files) expect([file, existsSync(join(ROOT, file.replace(HOME, '')))]).toEqual([file, true])
  expect(Number(read('TimeoutStopSec')) * 1000).toBeGreaterThan(STOP_DEADLINE_MS)
})

const analyze = Bun.which('systemd-analyze')
test(`rollcall.service: ${analyze ? 'systemd-analyze accepts it' : 'only its lines are checked, there is no systemd-analyze'}`, async () => {
  const unit = readText(UNIT)
  expect(unit.split('\n').filter((line) => !/^(?:#.*|\[\w+\]|[A-Z]\w+=.+|)$/.test(line))).toEqual([])
  if (!analyze) return
  const folder = await createFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'rollcall.service')
  await writeFile(file, unit.replaceAll(HOME, `${ROOT}/`).replace(/^WorkingDirectory=.*$/m, `WorkingDirectory=${ROOT}`))
  const child = Bun.spawn([analyze, 'verify', file], { stdout: 'pipe', stderr: 'pipe' })
  const [text, code] = await Promise.all([child.stderr.text(), child.exited])
  expect({ code, text }).toEqual({ code: 0, text: '' })
})

test.each(['Caddyfile', 'nginx.conf'])('%s: its braces match, and it leads to the port of the service', (name) => {
  const text = readText(`deploy/${name}`).replace(/#.*$/gm, '')
  expect(findBraceFault(text)).toBeUndefined()
  const targets = [...text.matchAll(/(?:reverse_proxy |proxy_pass http:\/\/)([\w.:]+)/g)]
  expect(targets.length).toBeGreaterThan(0)
  expect([...new Set(targets.map(([, target]) => target))]).toEqual([`127.0.0.1:${port}`])
})

test('nginx.conf: its statements end, it limits the endpoint, and it lets every body through that Rollcall takes', () => {
  const text = readText('deploy/nginx.conf').replace(/#.*$/gm, '')
  const lines = text.split('\n').map((line) => line.trim())
  expect(lines.filter((line) => line !== '' && !/[;{}]$/.test(line))).toEqual([])
  expect(lines).toContain(`location = ${ENDPOINT.path} {`)
  const [, megabytes = ''] = /client_max_body_size (\d+)m;/.exec(text) ?? []
  expect(Number(megabytes) * 1024 * 1024).toBeGreaterThan(MAX_BODY_BYTES)
})

function findBraceFault(text: string): string | undefined {
  let depth = 0
  for (const character of text) {
    if (character === '{') depth++
    if (character === '}') depth--
    if (depth < 0) return 'a brace closes that was not opened'
  }
  return depth === 0 ? undefined : 'a brace is not closed'
}
