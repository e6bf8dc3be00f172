/** The files of deploy/ are well formed and fit the service. `npm run test:proxies` runs the proxies, `npm run test:systemd` the unit,
 * `npm run test:monitoring` the rules; test/http/ops.test.ts compares rules and dashboard with the metrics. */

import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { readConfig } from '../../src/config/config.ts'
import { PROBLEMS, toErrorBody } from '../../src/errors.ts'
import { EXIT } from '../../src/failure.ts'
import { BODY_DEADLINE_MS, IDLE_TIMEOUT_S, MAX_DISCARDED_BYTES, STOP_DEADLINE_MS } from '../../src/limits.ts'
import { readText } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'

const { port } = readConfig({ SITE_FILE: '/dev/null' })
const UNIT = readText('deploy/rollcall.service')

function readSetting(key: string): string | undefined {
  return new RegExp(`^${key}=(.*)$`, 'm').exec(UNIT)?.[1]
}

test('every file of deploy/ has a test here', () => {
  expect(readdirSync(join(ROOT, 'deploy')).sort()).toEqual([
    'Caddyfile',
    'alerts.yml',
    'dashboard.json',
    'env',
    'haproxy.cfg',
    'nginx.conf',
    'restore-drill.sh',
    'rollcall.service',
    'sysusers.conf',
  ])
})

test('env: its settings are valid, and the list is in the folder of the service', () => {
  const { host, baseUrl, list } = readConfig({ ...parseEnv(readText('deploy/env')), SITE_FILE: '/dev/null' })
  const file = `/var/lib/${readSetting('StateDirectory')}/rollcall.db`
  expect([host, baseUrl, list]).toEqual(['127.0.0.1', 'https://list.example.org', { kind: 'sqlite', file }])
})

test('rollcall.service: it has only settings, and the service has time to stop', () => {
  const lines = UNIT.split('\n')
  expect(lines.filter((line) => !/^(?:#.*|\[\w+\]|[A-Z]\w+=.*|)$/.test(line))).toEqual([])
  expect(Number(readSetting('TimeoutStopSec')) * 1000).toBeGreaterThan(STOP_DEADLINE_MS)
  expect(readSetting('RestartPreventExitStatus')).toBe(String(EXIT.usage))
})

test('sysusers.conf: its user is that of the unit', () => {
  expect(readText('deploy/sysusers.conf')).toMatch(new RegExp(`^u ${readSetting('User')} - ".*" /var/lib/`, 'm'))
})

test.each(['Caddyfile', 'haproxy.cfg', 'nginx.conf'])('%s: it leads to the port of the service', (name) => {
  const targets = readText(`deploy/${name}`).match(/127\.0\.0\.1:\d+/g)
  expect(targets).toEqual([`127.0.0.1:${port}`])
})

test('each proxy refuses with the same errors, in the shape of those of the service', () => {
  const bodies = ['Caddyfile', 'haproxy.cfg', 'nginx.conf'].flatMap((name) =>
    readText(`deploy/${name}`).match(/{"ok.*}}/g),
  )
  const refused = [...new Set(bodies)].map((body) => JSON.parse(body ?? ''))
  expect(refused.map(({ message }) => message).sort()).toEqual(['invalid_body', 'method_not_allowed', 'rate_limited'])
  const own = toErrorBody(PROBLEMS.store_failed)
  for (const body of refused) {
    expect([Object.keys(body), Object.keys(body.error)]).toEqual([Object.keys(own), Object.keys(own.error)])
    expect(body.error.code).toBe(body.message)
  }
})

test('nginx.conf and Caddyfile: connections to the service end before it ends them, and its answers pass', () => {
  const [nginx, caddy] = [readText('deploy/nginx.conf'), readText('deploy/Caddyfile')]
  expect(Number(/keepalive_timeout (\d+)s;/.exec(nginx)?.[1])).toBeLessThan(IDLE_TIMEOUT_S)
  expect(Number(/keepalive (\d+)s/.exec(caddy)?.[1])).toBeLessThan(IDLE_TIMEOUT_S)
  expect(Number(/client_max_body_size (\d+)m;/.exec(nginx)?.[1]) * 1024 * 1024).toBe(MAX_DISCARDED_BYTES)
  expect(Number(/read_body (\d+)s/.exec(caddy)?.[1]) * 1000).toBeGreaterThan(BODY_DEADLINE_MS)
})
