/**
 * `npm run test:only -- guides`: follows start, deploy, operations, backup and hand-over in a clean Debian 12 with systemd, with their
 * own blocks: once as root in /root, and once as a person with sudo, whose home nobody else may enter. It has two newsletters, an
 * upgrade, and a move to another server. Certificates come from a local ACME server. A machine has no network.
 */

import { beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { $ } from 'bun'
import { writeDeb } from '../../build/deb.ts'
import { buildExecutable, HOST_TARGET } from '../../build/executable.ts'
import { writeArchive } from '../../build/installation.ts'
import { readOrigin } from '../../build/origin.ts'
import { findBlock, readBlocks, readText } from '../support/markdown.ts'
import { createFolder } from '../support/workspace.ts'
import { ARCHITECTURE, type Run, SYSTEMD, startMachine } from './machine.ts'

/** In place of the names in the guides, which doctor knows as examples. Here they lead to this machine. */
const HOST = 'list.rollcall.dev'
const GARDEN = 'garden.rollcall.dev'

const DIRECTORY = 'https://ca.test:9443/acme/local/directory'

/** The clean Debian takes minutes to download, so it is kept. Delete the folder to have a new one. */
const DEBIAN = join(tmpdir(), 'rollcall-test-debian')

/** Files of a machine that stand for an editor, a public certificate authority, and an owner who says yes. */
const FILES: Readonly<Record<string, string>> = {
  '/etc/hosts': `127.0.0.1 localhost ${hostname()} ${HOST} ${GARDEN} ca.test\n`,
  '/etc/apt/apt.conf.d/90yes': 'APT::Get::Assume-Yes "true";\n',
  '/etc/sudoers.d/ann': 'ann ALL=(ALL) NOPASSWD: ALL\nDefaults env_keep += "NODE_EXTRA_CA_CERTS"\n',
  '/root/.config/letsencrypt/cli.ini': `server = ${DIRECTORY}
agree-tos = true
register-unsafely-without-email = true
non-interactive = true
`,
  '/opt/ca/Caddyfile': `{
  admin off
  http_port 9080
  https_port 9443
  skip_install_trust
  auto_https disable_redirects
}
ca.test {
  tls internal
  acme_server
}
`,
  '/usr/local/bin/editor': `#!/bin/sh
set -eu
sed -i 's/list\\.example\\.org/${HOST}/g' "$1"
case $1 in *Caddyfile*) sed -i "0,/^{/s#^{#{\\n acme_ca ${DIRECTORY}\\n acme_ca_root /usr/local/share/ca-certificates/test.crt#" "$1" ;; esac
`,
  '/usr/local/bin/nano': '#!/bin/sh\n',
}

/** Starts the certificate authority: Caddy, of which the cache of apt has the package. */
const START_CA = `
dpkg -x /var/cache/apt/archives/caddy_*.deb /opt/ca
systemd-run --quiet --unit=ca --setenv=XDG_DATA_HOME=/opt/ca/data /opt/ca/usr/bin/caddy run --config /opt/ca/Caddyfile --adapter caddyfile
root=/opt/ca/data/caddy/pki/authorities/local/root.crt
until test -s $root; do sleep 0.3; done
install -m 644 $root /usr/local/share/ca-certificates/test.crt
update-ca-certificates > /dev/null 2>&1`

/** The page over TLS, a subscription on it, and where plain HTTP leads. */
const LOOK_AT_PAGE = `
curl --silent --show-error --fail --retry 20 --retry-all-errors --output page.html --write-out 'page %{http_code}\\n' https://${HOST}/
curl --silent --show-error --output /dev/null --write-out 'http %{http_code} %{redirect_url}\\n' http://${HOST}/
curl --silent --show-error --fail --output after.html --data email=ada%40site.io https://${HOST}/`

let share: string
beforeAll(async () => {
  if (!existsSync(DEBIAN)) await $`sh ${join(import.meta.dir, 'debian.sh')} ${DEBIAN}`.quiet()
  share = await createFolder()
  const executable = join(share, 'rollcall-linux-x64')
  await buildExecutable(HOST_TARGET, executable)
  await writeArchive(executable, readOrigin().date)
  for (const version of ['1.0.0', '1.0.1']) await writeDeb(share, HOST_TARGET, executable, readOrigin(), version)
})

/** A machine, and a person at it. */
interface Server {
  /** Runs a script as root of the machine: what the guides leave to the world around it. */
  readonly root: Run
  /** Runs a script as the person, in the home folder. */
  readonly person: Run
  /** Runs a block of a guide as the person. @param change puts what the test knows into its place */
  follow(file: string, name: string, change?: (text: string) => string): Promise<string>
}

async function startServer(user: 'root' | 'ann'): Promise<Server> {
  const root = await startMachine({ share, init: SYSTEMD, root: DEBIAN })
  // A user without rights asks systemd over D-Bus.
  await root('systemctl start dbus.socket; useradd --create-home ann; chmod 700 /home/ann')
  for (const [file, text] of Object.entries(FILES)) {
    const mode = file.includes('/bin/') ? 755 : 644
    await root(`install -D -m ${mode} /dev/null ${file}; cat > ${file} <<'END_OF_FILE'\n${text}END_OF_FILE\n`)
  }
  await root(START_CA)
  const home = user === 'root' ? '/root' : `/home/${user}`
  const env = `HOME=${home} USER=${user} PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin EDITOR=/usr/local/bin/editor NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt`
  const person: Run = (text, code) =>
    root(
      `cd ${home}; runuser -u ${user} -- env -i ${env} bash -euo pipefail <<'END_OF_SCRIPT'\n${text}\nEND_OF_SCRIPT\n`,
      code,
    )
  const follow: Server['follow'] = (file, name, change = (text) => text) => {
    const { text } = findBlock(`docs/${file}`, 'sh', name)
    return person(change(toHere(text)))
  }
  return { root, person, follow }
}

/** Puts the names of this walk into a block. */
function toHere(text: string): string {
  return text
    .replaceAll('list.example.org', HOST)
    .replaceAll('garden.example.org', GARDEN)
    .replaceAll('amd64', ARCHITECTURE)
}

/** A person answers the questions; without a terminal, options do. */
const answer = (text: string) =>
  text
    .replace('init /etc/rollcall\n', `init /etc/rollcall --base-url https://${HOST} --name Gazette\n`)
    .replace('init /etc/rollcall/garden\n', `init /etc/rollcall/garden --base-url https://${GARDEN} --name Garden\n`)

/** Puts a file of the build into the home folder, as scp does. */
const bring = ({ root }: Server, user: string, name: string) =>
  root(`install -o ${user} -m 600 /srv/${name} $(getent passwd ${user} | cut -d : -f 6)/`)

const RUNNING = 'rollcall rollcall-backup.timer rollcall@garden rollcall-backup@garden.timer'
const GARDEN_LIST = 'sudo env ENV_FILE=/etc/rollcall/garden/env rollcall'

async function followStart({ person, follow }: Server): Promise<void> {
  const page = `page 200\nhttp 308 https://${HOST}/\n`
  await follow('start.md', 'name')
  await follow('start.md', 'install', answer)
  // What a good start prints.
  const { text: start } = findBlock('docs/start.md', 'text', 'start')
  const [, says = ''] = /"msg":"([^"]+)"/.exec(toHere(start)) ?? []
  expect(await person('sudo journalctl --unit rollcall --output cat')).toContain(says)
  await follow('start.md', 'caddy')
  expect(await person(LOOK_AT_PAGE)).toContain(page)
  const look = await follow('start.md', 'look')
  expect(look).toContain('ada@site.io,')
  expect(look).toMatch(/^service +ok: /m)
  expect(look).not.toContain(' wrong: ')
  expect(await follow('start.md', 'backup')).toContain('rollcall_addresses_accepted_total 1\n')
  // The owner prefers nginx.
  await person('sudo systemctl disable --now caddy')
  await follow('start.md', 'nginx')
  expect(await person(LOOK_AT_PAGE)).toContain(page)
  await follow('start.md', 'flood', (text) => text.replace(/\d{4}-\d\d-\d\d/, '2026-01-01'))
  expect(await person('sudo rollcall count --json')).toBe('{"subscribers":0,"reserved":0,"suppressed":1}\n')
  await person('sudo certbot renew --force-renewal --no-random-sleep-on-renew')
}

async function followOperations({ root, person, follow }: Server): Promise<void> {
  await follow('operations.md', 'second', answer)
  expect(await person(`systemctl is-active ${RUNNING}`)).toBe('active\n'.repeat(4))
  await root('apt-get install --yes prometheus')
  await follow('operations.md', 'rules')
  const { text } = findBlock('docs/operations.md', 'yaml', 'prometheus.yml')
  await root(
    `cat > /etc/prometheus/prometheus.yml <<'END'\n${text}END\npromtool check config /etc/prometheus/prometheus.yml`,
  )
  await follow('operations.md', 'try', (block) => block.replace('you@your-domain.org', 'ann@site.io'))
  await follow('operations.md', 'cron')
  const lines = (await root("sed -n 's/^[0-9].* root //p' /etc/cron.d/rollcall")).trim().split('\n')
  expect(lines).toHaveLength(3)
  // cron runs them in the home folder of root, and mails what they print. grep finds nothing.
  for (const line of lines) expect(await root(`cd /root; ${line} || test $? = 1`)).toBe('')
  expect(await root('stat --format %U /var/lib/rollcall/status.html')).toBe('rollcall\n')
  await person('curl --silent --fail http://127.0.0.1:3001/api/newsletter --json \'{"email":"eve@site.io"}\'')
}

/** Every block that is run by a shell as it is. The others need a vault of restic or object storage. */
async function followBackup({ root, person, follow }: Server): Promise<void> {
  for (const { text } of readBlocks('docs/backup.md').filter(({ language, name }) => language === 'sh' && name === ''))
    await person(toHere(text))
  // A person reads the copy in her home, and restores from there.
  await person('test -r backup.db')
  await follow('backup.md', 'put-back')
  // The guide says to run them as root, in a folder of root.
  await root(`mkdir -m 700 /root/since; cd /root/since; ${findBlock('docs/backup.md', 'sh', 'since').text}`)
  await person('sudo systemctl start rollcall; sudo rollcall doctor')
  expect(await follow('backup.md', 'newest')).toContain('"subscribers":')
  expect(await root('find /var/lib/rollcall ! -user rollcall')).toBe('')
  // What root wrote in her home is hers.
  expect(await person('find . ! -user "$(id -u)"')).toBe('')
  // A file of her home, and its rejected rows.
  await person('printf "email\\nfay@site.io\\nnobody\\n" > readers.csv')
  await person('sudo rollcall import readers.csv --yes --rejected rejected.csv; grep nobody rejected.csv')
  await follow('deploy.md', 'command')
}

/** The unit that hands over, with a program of the owner. */
async function followHandOver({ root, person, follow }: Server): Promise<void> {
  await root('printf "#!/bin/sh\\nexec cat >> welcomed\\n" > /var/lib/rollcall/send-welcome')
  await root('chmod 755 /var/lib/rollcall/send-welcome')
  await follow('hand-over.md', 'unit')
  const { text } = findBlock('docs/hand-over.md', 'ini', 'export.conf')
  const file = '/etc/systemd/system/rollcall-export.service.d/export.conf'
  await person(`sudo tee ${file} > /dev/null <<'END'\n${text}END\nsudo systemctl enable --now rollcall-export`)
  const welcomed = '/var/lib/rollcall/welcomed'
  await root(
    `until grep -q fay@site.io ${welcomed} 2> /dev/null; do systemctl is-active rollcall-export; sleep 0.3; done`,
  )
  await person('echo gil@site.io | sudo rollcall import -')
  await root(`until grep -q gil@site.io ${welcomed}; do sleep 0.3; done`)
}

/** The command of the guide, as it is written there. */
async function upgrade({ person }: Server): Promise<void> {
  const [command = ''] = /sudo apt install \.\/rollcall_1\.0\.1_\w+\.deb/.exec(readText('docs/operations.md')) ?? []
  const pid = 'systemctl show --property=MainPID rollcall rollcall@garden'
  const before = await person(pid)
  expect(command).not.toBe('')
  await person(toHere(command))
  expect(await person(pid)).not.toBe(before)
  expect(await person(`systemctl is-active ${RUNNING}; sudo rollcall doctor`)).toStartWith('active\n'.repeat(4))
}

async function move(from: Server, user: 'root' | 'ann'): Promise<void> {
  const readers = (server: Server) =>
    server.person(`sudo rollcall export --format txt 2> /dev/null; ${GARDEN_LIST} export --format txt 2> /dev/null`)
  const before = await readers(from)
  expect(before).toContain('eve@site.io')
  await from.follow('operations.md', 'old-server')
  expect(await from.person(`systemctl is-active ${RUNNING}`, 3)).toBe('inactive\n'.repeat(4))
  expect(await from.person('stat --format %a move.tgz')).toBe('600\n')
  await from.root('cp -r /etc/systemd/system/rollcall-export* /srv/')
  await from.root(`cp $(getent passwd ${user} | cut -d : -f 6)/move.tgz /srv/move.tgz`)
  const to = await startServer(user)
  for (const name of [`rollcall_1.0.1_${ARCHITECTURE}.deb`, 'move.tgz']) await bring(to, user, name)
  // Another package has taken the number of the user there.
  await to.root('useradd --system other')
  await to.person(`sudo apt install ./rollcall_1.0.1_${ARCHITECTURE}.deb`)
  // The unit of the owner comes along by hand, as the guide says.
  await to.root('cp -r /srv/rollcall-export* /etc/systemd/system/; systemctl daemon-reload')
  await to.follow('operations.md', 'new-server')
  expect(await to.person(`systemctl is-active ${RUNNING}`)).toBe('active\n'.repeat(4))
  expect(await readers(to)).toBe(before)
  // The cursor continues: nobody is handed over again.
  await to.person('echo hal@site.io | sudo rollcall import -')
  const welcomed = '/var/lib/rollcall/welcomed'
  await to.root(`until grep -q hal@site.io ${welcomed}; do sleep 0.3; done`)
  expect(await to.root(`grep -c gil@site.io ${welcomed}`)).toBe('1\n')
}

test.each(['root', 'ann'] as const)(
  'as %s: start, operations, backup, hand-over, an upgrade and a move',
  async (user) => {
    const server = await startServer(user)
    await bring(server, user, `rollcall_1.0.0_${ARCHITECTURE}.deb`)
    await followStart(server)
    await followOperations(server)
    await followBackup(server)
    await followHandOver(server)
    await bring(server, user, `rollcall_1.0.1_${ARCHITECTURE}.deb`)
    await upgrade(server)
    await move(server, user)
  },
)

test('deploy.md: the archive in another Linux with systemd', async () => {
  const server = await startServer('ann')
  await bring(server, 'ann', 'rollcall-linux-x64.tar.gz')
  await server.follow('deploy.md', 'install', answer)
  await server.person('echo ada@site.io | sudo rollcall import -')
  expect(await server.follow('deploy.md', 'command')).toBe('1\n')
  expect(await server.person('systemctl is-active rollcall rollcall-backup.timer')).toBe('active\nactive\n')
  await server.person('sudo systemctl start rollcall-backup; sudo rollcall doctor || true')
  expect(await server.root('find /var/lib/rollcall ! -user rollcall')).toBe('')
})

test('postgres.md: a list moves from SQLite to PostgreSQL', async () => {
  const server = await startServer('ann')
  const { root, person, follow } = server
  await bring(server, 'ann', 'rollcall-linux-x64.tar.gz')
  await follow('deploy.md', 'install', answer)
  await person('echo ada@site.io | sudo rollcall import -')
  await root('apt-get install --yes postgresql; pg_ctlcluster 15 main start')
  const setUp = "CREATE ROLE rollcall LOGIN PASSWORD 'PASSWORD'; CREATE DATABASE rollcall OWNER rollcall"
  for (const statement of setUp.split('; ')) await root(`runuser -u postgres -- psql --command="${statement}"`)
  const toServer = (text: string) => text.replace('db.example.org/rollcall?sslmode=verify-full', '127.0.0.1/rollcall')
  await follow('postgres.md', 'move', toServer)
  const file = 'DATABASE_URL_FILE=/etc/rollcall/postgres.url'
  await person(`sudo sed -i 's#^DATABASE_URL=.*#${file}#' /etc/rollcall/env`)
  expect(await follow('postgres.md', 'moved')).toContain('1\n')
  expect(await person('systemctl is-active rollcall')).toBe('active\n')
  expect(await person('sudo rollcall doctor || true')).not.toMatch(/^(?:list|durability|content) +wrong/m)
})
