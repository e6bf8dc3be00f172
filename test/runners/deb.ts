/**
 * `npm run test:only -- deb`: installs, upgrades, removes and purges the Debian package with apt, with systemd as
 * the first process and without it. It happens in namespaces, on a copy of this machine in memory, so nothing of the
 * machine changes.
 */

import { beforeAll, expect, test } from 'bun:test'
import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { $ } from 'bun'
import { writeDeb } from '../../build/deb.ts'
import { buildExecutable, HOST_TARGET } from '../../build/executable.ts'
import { readOrigin } from '../../build/origin.ts'
import { findBlock } from '../support/markdown.ts'
import { until } from '../support/wait.ts'
import { createFolder } from '../support/workspace.ts'
import { ARCHITECTURE, SYSTEMD, startMachine } from './machine.ts'

const ANSWERS = '--base-url https://list.example.org --name "The Gazette"'
const ENABLE = 'systemctl enable --now rollcall rollcall-backup.timer'

let share: string
beforeAll(async () => {
  share = await createFolder()
  const executable = join(share, 'rollcall')
  await buildExecutable(HOST_TARGET, executable)
  for (const version of ['1.0.0', '1.0.1']) await writeDeb(share, HOST_TARGET, executable, readOrigin(), version)
  // The next version has a new line in each file that init starts from.
  const next = join(share, 'next')
  await $`dpkg-deb --raw-extract ${share}/rollcall_1.0.1_${ARCHITECTURE}.deb ${next}`.quiet()
  for (const name of ['env', 'site.yaml'])
    appendFileSync(join(next, 'usr/share/doc/rollcall', name), '# A setting of the next version.\n')
  await $`dpkg-deb --root-owner-group -Zgzip --build ${next} ${share}/rollcall_1.0.1_${ARCHITECTURE}.deb`.quiet()
  rmSync(next, { recursive: true })
})

/** Returns a block of a guide as root runs it. */
function readGuide(file: string, name: string): string {
  const { text } = findBlock(`docs/${file}`, 'sh', name)
  return text.replaceAll('sudo -u rollcall', 'runuser -u rollcall --').replaceAll('sudo ', '')
}

const INSTALL = 'apt-get install --yes --no-install-recommends --allow-downgrades /srv/rollcall'

const startSystemd = () => startMachine({ share, init: SYSTEMD })

test('lintian finds nothing in the package', async () => {
  const { stdout, stderr, exitCode } =
    await $`lintian --allow-root --fail-on error,warning ${share}/rollcall_1.0.0_${ARCHITECTURE}.deb`.quiet().nothrow()
  expect([exitCode, `${stdout}${stderr}`]).toEqual([0, ''])
})

test('with systemd: nothing runs before BASE_URL is set; then the service and the backups do', async () => {
  const run = await startSystemd()
  const shown = await run(`${INSTALL}_1.0.0_*.deb`)
  expect(shown).toContain('nothing runs yet. Next:\n  sudo rollcall init /etc/rollcall\n')
  expect(shown).toContain(`  sudo ${ENABLE}\n`)
  expect(await run('systemctl is-enabled rollcall rollcall-backup.timer', 1)).toBe('disabled\ndisabled\n')
  expect(await run('systemctl is-active rollcall rollcall-backup.timer', 3)).toBe('inactive\ninactive\n')
  const modes = 'stat --format "%U %G %a" /etc/rollcall/env /etc/rollcall/site.yaml /var/lib/rollcall'
  // The settings belong to the owner: no upgrade has a question about them (Debian policy 10.7.3).
  expect(await run('ls /etc/rollcall; dpkg-query --control-list rollcall | grep conffiles', 1)).toBe('')
  expect(await run('stat --format "%U %G %a" /etc/rollcall')).toBe('root rollcall 750\n')
  expect(await run('dpkg --verify rollcall')).toBe('')
  await run('cd /usr/share/doc/rollcall; ls Caddyfile nginx.conf haproxy.cfg THIRD-PARTY-NOTICES copyright install.md')

  expect(await run(`rollcall init /etc/rollcall ${ANSWERS}`)).toContain(`  sudo ${ENABLE}\n`)
  expect(await run(modes)).toBe('root rollcall 640\nroot rollcall 640\nrollcall rollcall 700\n')
  expect(findBlock('docs/start.md', 'sh', 'install').text).toEndWith(
    `sudo rollcall init /etc/rollcall\nsudo ${ENABLE}\n`,
  )
  await run(ENABLE)
  expect(await run('rollcall healthcheck')).toBe('ok\n')
  await run(`curl --fail --silent http://127.0.0.1:3000/api/newsletter --json '{"email":"ada@site.io"}'`)
  expect(await run('curl --silent http://127.0.0.1:3000/')).toContain('The Gazette')
  expect(await run('journalctl --unit rollcall')).toContain('and the site file /etc/rollcall/site.yaml')
  expect(await run('runuser -u rollcall rollcall count')).toBe('1\n')

  await run('systemctl start rollcall-backup.service')
  const today = (await run('ls /var/lib/rollcall/backups')).trim()
  expect(today).toMatch(/^rollcall-\d{4}-\d\d-\d\d\.db$/)
  // Copies of many days, of a wrong clock, and of the owner, whose names have another form.
  const own = ['rollcall-before-import.db', 'rollcall-2020-01-10-by-hand.db', 'a.db', 'rollcall-.db']
  const dated = [...Array(21).keys()].map((day) => `rollcall-2020-01-${day + 10}.db`)
  const future = ['rollcall-2099-01-01.db', 'rollcall-2099-01-02.db']
  await run(`cd /var/lib/rollcall/backups; touch ${[...own, ...dated, ...future].join(' ')}`)
  await run('systemctl start rollcall-backup.service')
  const copies = (await run('ls /var/lib/rollcall/backups')).trim().split('\n')
  expect(copies.sort()).toEqual([...own, ...dated.slice(-11), ...future, today].sort())
  expect(await run(`stat --format "%U %a" /var/lib/rollcall/backups/${today}`)).toBe('rollcall 600\n')
  expect(await run('systemctl list-timers --all rollcall-backup.timer')).toMatch(
    /\d\d:\d\d:\d\d .*rollcall-backup\.service/,
  )

  const readPid = () => run('systemctl show --property=MainPID rollcall')
  const before = await readPid()
  expect(await run(`${INSTALL}_1.0.1_*.deb`)).not.toContain('nothing runs yet')
  expect(await run('systemctl is-active rollcall')).toBe('active\n')
  expect(await readPid()).not.toBe(before)
  expect(await run('grep ^BASE_URL= /etc/rollcall/env')).toBe('BASE_URL=https://list.example.org\n')
  expect(await run('runuser -u rollcall rollcall count')).toBe('1\n')

  const kept = 'the list and its backups stay in /var/lib/rollcall.\n'
  expect(await run('apt-get remove --yes rollcall')).toContain(kept)
  expect(await run('systemctl is-active rollcall rollcall-backup.timer', 3)).toBe('inactive\ninactive\n')
  await run(`${INSTALL}_1.0.1_*.deb`)
  expect(await run('systemctl is-active rollcall rollcall-backup.timer')).toBe('active\nactive\n')
  expect(await run('apt-get purge --yes rollcall')).toContain(kept)
  expect(await run('ls -d /etc/rollcall /usr/bin/rollcall /etc/systemd/system/*.wants/rollcall* 2> /dev/null', 2)).toBe(
    '',
  )
  expect(await run('head --bytes 15 /var/lib/rollcall/rollcall.db')).toBe('SQLite format 3')
})

test('with systemd: one more newsletter has its own settings, ports, list and backups', async () => {
  const run = await startSystemd()
  await run(`${INSTALL}_1.0.0_*.deb`)
  await run(`rollcall init /etc/rollcall ${ANSWERS}`)
  // It does not run: its settings say which ports it needs.
  const [init = '', enable = '', count = ''] = readGuide('operations.md', 'second').trim().split('\n')
  const shown = await run(`${init} --base-url https://garden.example.org --name Garden`)
  expect(shown).toContain(`  sudo ${enable}\n`)
  expect([...(shown.match(/127\.0\.0\.1:\d+/g) ?? [])]).toEqual(Array(2).fill('127.0.0.1:3001'))
  const modes = 'cd /etc/rollcall/garden; stat --format "%U %G %a" . env site.yaml'
  expect(await run(modes)).toBe('root rollcall 750\nroot rollcall 640\nroot rollcall 640\n')
  await run(`${ENABLE}; ${enable}`)
  const asGarden = count.replace(/ count$/, '')
  await run(`curl --fail --silent http://127.0.0.1:3001/api/newsletter --json '{"email":"eve@site.io"}'`)
  await run(`curl --fail --silent http://127.0.0.1:3000/api/newsletter --json '{"email":"ada@site.io"}'`)
  expect(await run('curl --silent http://127.0.0.1:3001/; curl --silent http://127.0.0.1:9001/readyz')).toMatch(
    /<title>[^<]*Garden.*ok\n$/s,
  )
  expect(
    await run(
      `exec 2> /dev/null; ${asGarden} export --format txt; runuser -u rollcall -- rollcall export --format txt`,
    ),
  ).toBe('eve@site.io\nada@site.io\n')
  await run('systemctl start rollcall-backup@garden.service')
  const copy = (await run('ls -d /var/lib/rollcall/garden/backups/*')).trim()
  expect(await run(`${asGarden} count --list sqlite:${copy}`)).toBe('1\n')

  // Each unit is loaded, with what systemd knows of it, and none is more exposed than 2.0.
  for (const unit of ['rollcall', 'rollcall@garden', 'rollcall-backup', 'rollcall-backup@garden'])
    await run(`systemd-analyze security --no-pager --threshold=20 ${unit}.service`)

  const running = 'systemctl is-active rollcall@garden.service rollcall-backup@garden.timer'
  const before = await run('systemctl show --property=MainPID rollcall@garden')
  await run(`${INSTALL}_1.0.1_*.deb`)
  expect(await run(running)).toBe('active\nactive\n')
  expect(await run('systemctl show --property=MainPID rollcall@garden')).not.toBe(before)
  await run('apt-get remove --yes rollcall')
  expect(await run(running, 3)).toBe('inactive\ninactive\n')
  await run(`${INSTALL}_1.0.1_*.deb`)
  expect(await run(running)).toBe('active\nactive\n')
  await run('touch /etc/rollcall/garden/webhook.secret; apt-get purge --yes rollcall')
  expect(await run('find /etc/rollcall /etc/systemd/system -name "*rollcall*" -o -name "webhook*"')).toBe(
    '/etc/rollcall\n/etc/rollcall/garden/webhook.secret\n',
  )
  expect(await run('head --bytes 15 /var/lib/rollcall/garden/rollcall.db')).toBe('SQLite format 3')
})

test('with systemd: a list on a disk that is mounted late is found, and a list on another disk needs one line', async () => {
  const run = await startSystemd()
  await run(`${INSTALL}_1.0.0_*.deb`)
  await run(`rollcall init /etc/rollcall ${ANSWERS}`)
  await run('sed -i "s#^DATABASE_URL=.*#DATABASE_URL=sqlite:/big/rollcall.db#" /etc/rollcall/env; mkdir /big')
  await run(readGuide('troubleshooting.md', 'larger').replaceAll('/mnt/big', '/big'))
  await run('systemctl start rollcall', 1)
  const countStarts = async () => Number((await run('systemctl show --property=NRestarts --value rollcall')).trim())
  // More starts than the limit of systemd, five in ten seconds, which a pause avoids.
  await until(async () => (await countStarts()) >= 6, 'it is started again and again')
  await run('mount -t tmpfs -o mode=700,uid=$(id -u rollcall),gid=$(id -g rollcall) tmpfs /big')
  await until(async () => (await run('systemctl is-active rollcall || true')) === 'active\n', 'it runs')
  await run(`curl --fail --silent http://127.0.0.1:3000/api/newsletter --json '{"email":"ada@site.io"}'`)
  await run('systemctl start rollcall-backup')
  expect(await run('runuser -u rollcall -- rollcall count --list sqlite:$(ls -d /var/lib/rollcall/backups/*)')).toBe(
    '1\n',
  )
  expect(await run(readGuide('backup.md', 'newest'))).toContain('{"subscribers":1,"reserved":0,"suppressed":0}')
})

test('with systemd: an owner who stopped the service finds it stopped after an upgrade; with BASE_URL, it starts', async () => {
  const run = await startSystemd()
  await run('mkdir /etc/rollcall; echo BASE_URL=https://list.example.org > /etc/rollcall/env')
  await run(
    'echo OPS_PORT=9000 >> /etc/rollcall/env; echo DATABASE_URL=sqlite:/var/lib/rollcall/l.db >> /etc/rollcall/env',
  )
  expect(await run(`${INSTALL}_1.0.0_*.deb`)).not.toContain('nothing runs yet')
  expect(await run('systemctl is-active rollcall rollcall-backup.timer')).toBe('active\nactive\n')
  expect(await run('cat /etc/rollcall/env')).toStartWith('BASE_URL=https://list.example.org\n')
  await run('systemctl disable --now rollcall')
  await run(`${INSTALL}_1.0.1_*.deb`)
  expect(await run('systemctl is-active rollcall rollcall-backup.timer')).toBe('inactive\nactive\n')
})

test('without systemd: the package is installed, upgraded, removed and purged too, and commands work', async () => {
  const run = await startMachine({ share, init: ['/bin/sleep', 'infinity'] })
  expect(await run(`${INSTALL}_1.0.0_*.deb`)).toContain('nothing runs yet')
  await run(`rollcall init /etc/rollcall ${ANSWERS}`)
  await run('echo ada@site.io | runuser -u rollcall rollcall import -')
  await run(`${INSTALL}_1.0.1_*.deb`)
  expect(await run('runuser -u rollcall rollcall count')).toBe('1\n')
  expect(await run('apt-get remove --yes rollcall')).toContain('stay in /var/lib/rollcall.')
  expect(await run('ls /etc/rollcall')).toBe('env\nsite.yaml\n')
  expect(await run('apt-get purge --yes rollcall')).toContain('stay in /var/lib/rollcall.')
  expect(await run('ls /etc/rollcall 2> /dev/null', 2)).toBe('')
})
