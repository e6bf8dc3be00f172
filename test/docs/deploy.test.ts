/** The files of deploy/ are well formed and fit the service. `npm run test:proxies` runs the proxies. */

import { expect, onTestFinished, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig } from '../../src/config/config.ts'
import { PROBLEMS, toErrorBody } from '../../src/errors.ts'
import { BODY_DEADLINE_MS, IDLE_TIMEOUT_S, MAX_DISCARDED_BYTES, STOP_DEADLINE_MS } from '../../src/limits.ts'
import { readText } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'
import { createFolder } from '../support/service.ts'

const UNIT = 'deploy/rollcall.service'
const HOME = '/opt/rollcall/'
const { port } = readConfig({ SITE_FILE: '/dev/null' })

test('every file of deploy/ has a test here', () => {
  expect(readdirSync(join(ROOT, 'deploy')).sort()).toEqual([
    'Caddyfile',
    'haproxy.cfg',
    'nginx.conf',
    'rollcall.service',
  ])
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

test.each(['Caddyfile', 'haproxy.cfg', 'nginx.conf'])('%s: it leads to the port of the service', (name) => {
  const targets = readText(`deploy/${name}`).match(/127\.0\.0\.1:\d+/g)
  expect(targets).toEqual([`127.0.0.1:${port}`])
})

test('each proxy refuses with the same error, in the shape of those of the service', () => {
  const bodies = ['Caddyfile', 'haproxy.cfg', 'nginx.conf'].map((name) => readText(`deploy/${name}`).match(/{"ok.*}}/g))
  expect(new Set(bodies.map(String)).size).toBe(1)
  const refused = JSON.parse(bodies[0]?.[0] ?? '')
  const own = toErrorBody(PROBLEMS.store_failed)
  expect([Object.keys(refused), Object.keys(refused.error)]).toEqual([Object.keys(own), Object.keys(own.error)])
  expect([refused.message, refused.error.code]).toEqual(['rate_limited', 'rate_limited'])
})

test('nginx.conf and Caddyfile: connections to the service end before it ends them, and its answers pass', () => {
  const [nginx, caddy] = [readText('deploy/nginx.conf'), readText('deploy/Caddyfile')]
  expect(Number(/keepalive_timeout (\d+)s;/.exec(nginx)?.[1])).toBeLessThan(IDLE_TIMEOUT_S)
  expect(Number(/keepalive (\d+)s/.exec(caddy)?.[1])).toBeLessThan(IDLE_TIMEOUT_S)
  expect(Number(/client_max_body_size (\d+)m;/.exec(nginx)?.[1]) * 1024 * 1024).toBe(MAX_DISCARDED_BYTES)
  expect(Number(/read_body (\d+)s/.exec(caddy)?.[1]) * 1000).toBeGreaterThan(BODY_DEADLINE_MS)
})
