/**
 * The files that operators copy are well formed and fit the service. The checks `proxies`, `systemd` and `monitoring` of
 * `npm run test:only` run them; test/http/ops.test.ts compares rules and dashboard with the metrics.
 */

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdir, readdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { parse } from 'yaml'
import { readConfig } from '../../src/config/config.ts'
import { parseSite } from '../../src/config/site-file.ts'
import { PROBLEMS, toErrorBody } from '../../src/errors.ts'
import { EXIT } from '../../src/failure.ts'
import {
  BODY_DEADLINE_MS,
  IDLE_TIMEOUT_S,
  MAX_DISCARDED_BYTES,
  STOP_DEADLINE_MS,
  STORE_DEADLINE_MS,
} from '../../src/limits.ts'
import { createCliFixture } from '../support/cli-fixture.ts'
import { RESPONSES } from '../support/contract.ts'
import { readText } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'
import { findMidnight } from '../support/wait.ts'

const UNIT = readText('deploy/rollcall.service')
const PROXIES = ['Caddyfile', 'haproxy.cfg', 'nginx.conf'].map((name) => readText(`deploy/${name}`))

function readSetting(key: string): string | undefined {
  return new RegExp(`^${key}=(.*)$`, 'm').exec(UNIT)?.[1]
}

test('.env.example has the settings of docs/settings.md, with the defaults of the code', () => {
  const example = parseEnv(readText('.env.example').replace(/^# (?=[A-Z_]+=)/gm, ''))
  const rows = [...readText('docs/settings.md').matchAll(/^\| `([A-Z_]+)` \| (?:`([^`]*)`)?/gm)]
  expect(rows.length).toBeGreaterThan(9)
  const documented = rows.map(([, name = '', value]) => [name, name === 'BASE_URL' ? 'http://localhost:3000' : value])
  expect(Object.entries(example).map(([name, value]) => [name, value || undefined])).toEqual(documented)
  // There is no site file here, and an example of one is not a default.
  const { SITE_FILE, ...values } = example
  expect(readConfig(values)).toEqual(readConfig({}))
})

test('env and site.yaml are valid, change no default of the site, and the list is in the folder of the service', () => {
  const env = { ...parseEnv(readText('deploy/env')), SITE_FILE: join(ROOT, 'deploy/site.yaml') }
  const { host, baseUrl, list, site } = readConfig(env)
  expect(site).toEqual(readConfig({ SITE_FILE: '/dev/null' }).site)
  // Without the comments, each example is valid too.
  const text = readText('deploy/site.yaml').replace(/^# (?=[a-z]+: )(?!logo|portrait)/gm, '')
  expect(parseSite(text, 'site.yaml')).toMatchObject({ name: 'The Gazette', languages: ['en', 'de'] })
  const file = `/var/lib/${readSetting('StateDirectory')}/rollcall.db`
  expect([host, baseUrl, list]).toEqual(['127.0.0.1', 'http://localhost:3000', { kind: 'sqlite', file }])
})

test('rollcall.service: it has only settings, the service has time to stop, and its user is created', () => {
  const lines = UNIT.split('\n')
  expect(lines.filter((line) => !/^(?:#.*|\[\w+\]|[A-Z]\w+=.*|)$/.test(line))).toEqual([])
  expect(Number(readSetting('TimeoutStopSec')) * 1000).toBeGreaterThan(STOP_DEADLINE_MS)
  expect(readSetting('RestartPreventExitStatus')).toBe(String(EXIT.usage))
  expect(readText('deploy/sysusers.conf')).toMatch(new RegExp(`^u ${readSetting('User')} - ".*" /var/lib/`, 'm'))
})

const SERVICES = ['rollcall.service', 'rollcall-backup.service', 'rollcall-sync@.service'].map((name) =>
  readText(`deploy/${name}`),
)

test('each unit has the same restrictions, and what the service writes is for its user alone', () => {
  // docs/security.md: files have mode 0600, folders 0700, and the service can write in /var/lib/rollcall only.
  for (const text of SERVICES) {
    for (const line of ['User=rollcall', 'StateDirectoryMode=0700', 'UMask=0077', 'ProtectSystem=strict']) {
      expect(text.split('\n')).toContain(line)
    }
  }
  const [own = [], ...others] = SERVICES.map((text) => text.slice(text.indexOf('NoNewPrivileges=')).split('\n'))
  // A backup needs no network at all.
  const isSame = (line: string) =>
    line !== '' && !/^(?:PrivateNetwork|RestrictAddressFamilies)=|^\[Install|^WantedBy/.test(line)
  expect(own.filter(isSame).length).toBeGreaterThan(20)
  for (const lines of others) expect(lines.filter(isSame)).toEqual(own.filter(isSame))
})

test('the times of the units are those of the guides', () => {
  const read = (name: string, key: string) => new RegExp(`^${key}=(.*)$`, 'm').exec(readText(`deploy/${name}`))?.[1]
  // docs/deploy.md.
  expect(readSetting('LimitNOFILE')).toBe('65536')
  // docs/operations.md: a stop takes at most 10 s. Then systemd need not wait for minutes.
  expect(Number(readSetting('TimeoutStopSec')) * 1000).toBeLessThan(2 * STOP_DEADLINE_MS)
  expect(Number(readSetting('RestartSec'))).toBeLessThan(10)
  // docs/hand-over.md: every five minutes. A run that hangs ends before the next day.
  expect(read('rollcall-sync@.timer', 'OnUnitInactiveSec')).toBe('5min')
  expect(read('rollcall-sync@.service', 'TimeoutStartSec')).toBe('1h')
  // docs/operations.md: every night, also after one in which the machine was off.
  expect(read('rollcall-backup.timer', 'OnCalendar')).toBe('*-*-* 02:00')
  expect(read('rollcall-backup.timer', 'Persistent')).toBe('yes')
})

test('rollcall.service: it is started again for ever, with a pause', () => {
  expect([readSetting('Restart'), readSetting('StartLimitIntervalSec')]).toEqual(['always', '0'])
  expect(Number(readSetting('RestartSec'))).toBeGreaterThan(1)
})

test('rollcall-backup.service: only dated names rotate, and the new copy stays', async () => {
  const { folder, print, shell } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  const own = ['rollcall-before-import.db', 'rollcall-2020-01-10-by-hand.db', 'a.db', 'rollcall-.db']
  const future = [...Array(20).keys()].map((day) => `rollcall-2099-01-${day + 10}.db`)
  await mkdir(join(folder, 'backups'))
  for (const name of [...own, ...future]) await writeFile(join(folder, 'backups', name), '')
  const [, script = ''] = /^ExecStart=\/bin\/sh -ec '(.*)'$/m.exec(readText('deploy/rollcall-backup.service')) ?? []
  const text = script.replaceAll('$$', '$').replaceAll('%%', '%').replace('/usr/local/bin/rollcall', '"$program"')
  await findMidnight()
  const run = await shell(`set -e; export TZ=UTC; cd backups; ${text}`)
  expect(run).toMatchObject({ code: 0 })
  const today = `rollcall-${new Date().toISOString().slice(0, 10)}.db`
  expect((await readdir(join(folder, 'backups'))).sort()).toEqual([...own, ...future.slice(-13), today].sort())
})

test.each(['rollcall.service', 'rollcall-backup.service', 'rollcall-backup.timer'])(
  '%s of one more newsletter differs in its settings and its folder only',
  (name) => {
    const read = (file: string) =>
      readText(`deploy/${file}`)
        .split('\n')
        .filter((line) => !/^#|^Description=/.test(line))
    const [one, more] = [read(name), read(name.replace('.', '@.'))]
    const own = more.filter((line) => !one.includes(line))
    const state = one
      .filter((line) => line.includes('/backups') || line.startsWith('StateDirectory='))
      .map((line) =>
        line.replaceAll('rollcall/backups', 'rollcall/%i/backups').replace(/=rollcall\b(?!\/)/, '=rollcall/%i'),
      )
    expect(own).toEqual(name.endsWith('timer') ? [] : ['Environment=ENV_FILE=/etc/rollcall/%i/env', ...state])
    expect(more.filter((line) => !own.includes(line))).toEqual(one.filter((line) => more.includes(line)))
  },
)

test('each proxy leads to the service, and refuses with errors in its shape', () => {
  const { port } = readConfig({ SITE_FILE: '/dev/null' })
  for (const text of PROXIES) expect([...new Set(text.match(/127\.0\.0\.1:\d+/g))]).toEqual([`127.0.0.1:${port}`])
  const bodies = PROXIES.flatMap((text) => text.match(/{"ok.*}}/g))
  const refused = [...new Set(bodies)].map((body) => JSON.parse(body ?? ''))
  expect(refused.map(({ message }) => message).sort()).toEqual(['invalid_body', 'method_not_allowed', 'rate_limited'])
  expect(refused).toContainEqual(JSON.parse(RESPONSES.rate_limited.body))
  const own = toErrorBody(PROBLEMS.store_failed)
  for (const body of refused) {
    expect([Object.keys(body), Object.keys(body.error)]).toEqual([Object.keys(own), Object.keys(own.error)])
    expect(body.error.code).toBe(body.message)
  }
})

test('nginx.conf and Caddyfile: connections to the service end before it ends them, and its answers pass', () => {
  const [caddy = '', , nginx = ''] = PROXIES
  expect(Number(/keepalive_timeout (\d+)s;/.exec(nginx)?.[1])).toBeLessThan(IDLE_TIMEOUT_S)
  expect(Number(/keepalive (\d+)s/.exec(caddy)?.[1])).toBeLessThan(IDLE_TIMEOUT_S)
  expect(Number(/client_max_body_size (\d+)m;/.exec(nginx)?.[1]) * 1024 * 1024).toBe(MAX_DISCARDED_BYTES)
  expect(Number(/read_body (\d+)s/.exec(caddy)?.[1]) * 1000).toBeGreaterThan(BODY_DEADLINE_MS)
})

// The guide runs it with a good backup.
test('restore-drill.sh: a damaged backup is exit code 1 with the reason, and nothing is left', async () => {
  const { folder, print, shell } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\nbob@site.io\n')
  await print(['backup', 'backup.db'])
  await truncate(join(folder, 'backup.db'), 8_192)
  await mkdir(join(folder, 'tmp'))
  const drill = await shell(`TMPDIR=$PWD/tmp sh ${join(ROOT, 'deploy/restore-drill.sh')} backup.db "$program"`)
  expect(drill).toMatchObject({ code: 1, stderr: expect.stringContaining('rollcall: ') })
  expect(await readdir(join(folder, 'tmp'))).toEqual([])
})

test('restore-drill.sh: a backup that can be restored, and in which doctor finds a fault, is exit code 1 with what it says', async () => {
  const { folder, print, shell } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  await print(['backup', 'backup.db'])
  const db = new Database(join(folder, 'backup.db'))
  db.run('UPDATE subscribers SET subscribed_at = ?', [Date.now() + 86_400_000])
  db.close()
  const drill = await shell(`sh ${join(ROOT, 'deploy/restore-drill.sh')} backup.db "$program"`)
  expect(drill).toMatchObject({ code: 1, stderr: expect.stringContaining(' wrong: the latest subscription is of ') })
  expect(drill.stdout).not.toContain('"subscribers"')
})

test('restore-drill.sh takes no settings of the server: it tries the backup, whatever they are', async () => {
  const { print, shell } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\nbob@site.io\n')
  await print(['backup', 'backup.db'])
  const settings = 'export ENV_FILE=/nowhere/env DATABASE_URL=mysql://nowhere'
  const drill = await shell(`${settings}; sh ${join(ROOT, 'deploy/restore-drill.sh')} backup.db "$program"`)
  expect(drill).toMatchObject({ code: 0, stdout: expect.stringContaining('"subscribers":2') })
})

/** The numbers that a pattern finds in a file, in its order. */
const readNumbers = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, number]) => Number(number))

test('each proxy lets a client send 30 POSTs in 10 s, and then says how long to wait', () => {
  const [caddy = '', haproxy = '', nginx = ''] = PROXIES
  // What comes at once, and 10 s of what comes after it.
  const [burst = 0] = readNumbers(nginx, /limit_req zone=\w+ burst=(\d+) nodelay;/g)
  const [rate = 0] = readNumbers(nginx, /rate=(\d+)r\/s;/g)
  expect(burst + 10 * rate).toBe(30)
  expect(readNumbers(caddy, /events (\d+)/g)).toEqual([30])
  expect(readNumbers(caddy, /window (\d+)s/g)).toEqual([10])
  expect(readNumbers(haproxy, /sc_http_req_rate\(0\) gt (\d+)/g)).toEqual([30])
  expect(readNumbers(haproxy, /http_req_rate\((\d+)s\)/g)).toEqual([10])
  // A client that is forgotten begins anew.
  const [expiry = 0] = readNumbers(haproxy, /expire (\d+)m/g)
  expect(expiry * 60).toBeGreaterThan(10)
  for (const text of [haproxy, nginx]) expect(readNumbers(text, /Retry-After (\d+)/g)).toEqual([10])
})

test('a proxy waits longer than Rollcall, but not for ever, and its redirect to https keeps a POST', () => {
  const [caddy = '', haproxy = '', nginx = ''] = PROXIES
  const limits = [
    ...readNumbers(haproxy, /timeout (?:client|server) (\d+)s/g),
    ...readNumbers(caddy, /read_body (\d+)s/g),
  ]
  expect(limits).toHaveLength(3)
  for (const seconds of limits) expect(seconds * 1000).toBeWithin(BODY_DEADLINE_MS + 1_000, 60_001)
  const [server = 0] = readNumbers(haproxy, /timeout server (\d+)s/g)
  expect(server * 1000).toBeGreaterThan(BODY_DEADLINE_MS + STORE_DEADLINE_MS)
  expect(readNumbers(nginx, /return (\d+) https:/g)).toEqual([308])
  expect(readNumbers(haproxy, /redirect scheme https code (\d+)/g)).toEqual([308])
})

test('each proxy limits a client, and not all readers together', () => {
  // The runner `proxies` tries it for two clients of nginx and HAProxy. Debian's Caddy has no module for it.
  expect(readText('deploy/Caddyfile')).toMatch(/^\t# \t\tkey \{remote_host\}$/m)
  expect(readText('deploy/nginx.conf')).toMatch(/^limit_req_zone \$rollcall_client /m)
  expect(readText('deploy/nginx.conf')).toMatch(
    /^map \$request_method \$rollcall_client \{\n +POST \$rollcall_network;/m,
  )
  expect(readText('deploy/haproxy.cfg')).toMatch(/^ +http-request track-sc0 src,ipmask\(32,64\) if METH_POST$/m)
})

interface AlertTest {
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts?: readonly object[] }[]
}

test('every alert has a test in which it fires, and one in which it does not', () => {
  const { groups } = parse(readText('deploy/alerts.yml'))
  const alerts = groups.flatMap(({ rules }: { rules: readonly { alert: string }[] }) => rules.map(({ alert }) => alert))
  const { tests } = parse(readText('test/runners/alerts.test.yml'))
  const cases = tests.flatMap((each: AlertTest) => each.alert_rule_test) as AlertTest['alert_rule_test']
  const listNames = (fires: boolean) => [
    ...new Set(
      cases.filter(({ exp_alerts: found = [] }) => found.length > 0 === fires).map(({ alertname }) => alertname),
    ),
  ]
  expect(alerts.length).toBeGreaterThan(6)
  expect(listNames(true).sort()).toEqual(alerts.toSorted())
  expect(listNames(false).sort()).toEqual(alerts.toSorted())
})
