/**
 * `npm run test:only -- guides`: follows start, deploy, operations, backup and hand-over in a clean Debian 12 with systemd, with their
 * own blocks: once as root in /root, and once as a person with sudo, whose home nobody else may enter. It has two newsletters, an
 * upgrade, and a move to another server. Certificates come from a local ACME server. A machine has no network.
 */

import { expect, test } from 'bun:test'
import { findBlock, readBlocks, readText } from '../support/markdown.ts'
import { expectOutput } from '../support/output.ts'
import { answer, bring, HOST, type Server, startServer, toHere } from './guide-server.ts'
import { ARCHITECTURE } from './machine.ts'

/** The page over TLS, a subscription on it, and where plain HTTP leads, when a reload of the proxy is over. */
const LOOK_AT_PAGE = `
curl --silent --show-error --fail --retry 20 --retry-all-errors --output page.html --write-out 'page %{http_code}\\n' https://${HOST}/
i=0; until [ $i -eq 100 ] || curl --silent --head http://${HOST}/ | grep --quiet ' 308 '; do i=$((i + 1)); sleep 0.1; done
curl --silent --show-error --output /dev/null --write-out 'http %{http_code} %{redirect_url}\\n' http://${HOST}/
curl --silent --show-error --fail --output after.html --data email=ada%40site.io https://${HOST}/`

const RUNNING = 'rollcall rollcall-backup.timer rollcall@garden rollcall-backup@garden.timer'
const GARDEN_LIST = 'sudo env ENV_FILE=/etc/rollcall/garden/env rollcall'

async function followStart({ person, follow }: Server): Promise<void> {
  const page = `page 200\nhttp 308 https://${HOST}/\n`
  await follow('start.md', 'name')
  await follow('start.md', 'install', answer)
  // What a good start prints.
  const { text: start } = findBlock('docs/start.md', 'text', 'start')
  const [, says = ''] = /"msg":"([^"]+)"/.exec(toHere(start)) ?? []
  const log = await person('sudo journalctl --unit rollcall --output cat')
  for (const part of says.split('…')) expect(log).toContain(part)
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
  await from.root(`cp $(getent passwd ${user} | cut -d : -f 6)/move.tgz /srv/move.tgz`)
  const to = await startServer(user)
  for (const name of [`rollcall_1.0.1_${ARCHITECTURE}.deb`, 'move.tgz']) await bring(to, user, name)
  // Another package has taken the number of the user there.
  await to.root('useradd --system other')
  await to.person(`sudo apt install ./rollcall_1.0.1_${ARCHITECTURE}.deb`)
  await to.follow('operations.md', 'new-server')
  // cron and the unit of the owner came along.
  await to.root('test -f /etc/cron.d/rollcall; systemctl is-active rollcall-export')
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
  // HAProxy, with its certificate. A renewal starts it again.
  await server.follow('deploy.md', 'haproxy', (text) => text.replace('/usr/share/', '/usr/local/share/'))
  const page = `page 200\nhttp 308 https://${HOST}/\n`
  expect(await server.person(LOOK_AT_PAGE)).toContain(page)
  await server.root('rm /etc/haproxy/certs/*')
  await server.person('sudo certbot renew --force-renewal --no-random-sleep-on-renew')
  expect(await server.person(LOOK_AT_PAGE)).toContain(page)
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

/** Blocks that the guides have for a checkout only. */
const isOfCheckout = (text: string) => /\bnpm\b|sqlite:data/.test(text)

/** A command that stays hands over a new subscriber, and ends here. The unit of the guide stays. */
const toOneRun = (text: string) =>
  text.includes(' --follow')
    ? `echo new@site.io | sudo rollcall import -; ${text.replace(' --follow', '').trim()}; grep new@site.io welcomed; sudo rollcall remove --forget new@site.io`
    : text

/** Runs the blocks of a guide that test/docs/blocks.test.ts runs in a checkout, with a new list, and compares what they print. */
async function followCommands({ root, person }: Server, file: string): Promise<void> {
  await root('systemctl stop rollcall; rm -f /var/lib/rollcall/rollcall.db*; systemctl start rollcall')
  const folder = `guide-${file}`
  await person(
    `mkdir ${folder}; printf '#!/bin/sh\\nexec cat >> welcomed\\n' > ${folder}/send-welcome; chmod +x ${folder}/*`,
  )
  let output = ''
  for (const { language, name, text } of readBlocks(`docs/${file}`)) {
    const [, code] = /^(?:exit-(\d+))?$/.exec(name) ?? [name, name]
    if (language === 'csv') await person(`cat > ${folder}/${name} <<'END_OF_FILE'\n${text}END_OF_FILE`)
    if (language === 'sh' && (name === '' || name.startsWith('exit-')))
      output = isOfCheckout(text) ? '' : await person(`cd ${folder}; ${toOneRun(text)}`, Number(code ?? 0))
    if (output === '' || name !== '') continue
    if (language === 'text') expectOutput(output, text)
    if (language === 'json') expect(JSON.parse(output.split('\n')[0] ?? '')).toEqual(JSON.parse(text))
  }
}

/** In place of listmonk: its list is empty, and it takes everybody. Prints who came. */
const LISTMONK = `
const http = require('node:http')
http.createServer((request, response) => {
  let body = ''
  request.on('data', (data) => { body += data })
  request.on('end', () => {
    const { email } = JSON.parse(body || '{}')
    if (email) console.log('came', email)
    const data = email ? { email, lists: [{ id: 1 }] } : { id: 1, optin: 'single', results: [] }
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ data }))
  })
}).listen(9999, '127.0.0.1')
`

/** In place of Mailman: its members are the lines of a file. */
const MAILMAN = `#!/bin/sh
case $1 in addmembers) exec cat >> /var/tmp/members ;; members) exec cat /var/tmp/members ;; esac
`

async function followRecipes({ root, person, follow }: Server): Promise<void> {
  await root('apt-get install --yes nodejs')
  await root(`cat > /srv/listmonk.js <<'END_OF_FILE'\n${LISTMONK}END_OF_FILE`)
  await root('systemd-run --quiet --unit=listmonk node /srv/listmonk.js')
  await person('echo ada@site.io | sudo rollcall import -')
  await follow('hand-over.md', 'recipe', (text) =>
    text.replace('https://listmonk.example.org', 'http://127.0.0.1:9999'),
  )
  await root('until journalctl --unit listmonk | grep -q "came ada@site.io"; do sleep 0.3; done')
  await root('until systemctl is-active rollcall-sync@listmonk | grep -q "^inactive"; do sleep 0.3; done')
  expect(await root('journalctl --unit rollcall-sync@listmonk')).toContain('listmonk: 1 added\n')

  await root(`install -o list -m 600 /dev/null /var/tmp/members; install -m 755 /dev/null /usr/bin/mailman`)
  await root(`cat > /usr/bin/mailman <<'END_OF_FILE'\n${MAILMAN}END_OF_FILE`)
  const { text: settings } = findBlock('docs/hand-over.md', 'json', 'members.json')
  await person(`cat > members.json <<'END_OF_FILE'\n${settings}END_OF_FILE`)
  await follow('hand-over.md', 'members')
  await root('visudo --check --file=/etc/sudoers.d/rollcall')
  const [, command = ''] = /^\S+ \* \* \* \* rollcall (.*)$/m.exec(await root('cat /etc/cron.d/rollcall-members')) ?? []
  const cron = `runuser -u rollcall -- env -i PATH=/usr/local/bin:/usr/bin:/bin sh -c '${command}'`
  expect(await root(cron)).toContain('members: 1 added\n')
  expect(await root('cat /var/tmp/members')).toBe('ada@site.io\n')
  await root(': > /var/tmp/members')
  await follow('hand-over.md', 'all-gone')
  expect(await person('sudo rollcall count')).toBe('0\n')
}

test('import, hand-over, command line and security: each command, and the recipes, on a server', async () => {
  const server = await startServer('ann')
  await bring(server, 'ann', `rollcall_1.0.0_${ARCHITECTURE}.deb`)
  await server.follow('start.md', 'install', answer)
  for (const file of ['import.md', 'hand-over.md', 'cli.md', 'security.md']) await followCommands(server, file)
  await followRecipes(server)
  expect(await server.root('find /var/lib/rollcall ! -user rollcall')).toBe('')
})
