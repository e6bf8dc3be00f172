/**
 * `npm run test:only -- start`: walks docs/start.md with its own blocks, from the package to a page behind Caddy and then
 * behind nginx, with certificates of a local ACME server. It runs as root on a copy of the root file system, in a network of
 * its own, so nothing of the machine changes. systemd does not run there: a script runs the units' ExecStart as their users.
 */

import { expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { $ } from 'bun'
import { findBlock, readText } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'
import { createFolder } from '../support/workspace.ts'

/** In place of the name in the guide, which doctor knows as an example. Here it leads to this machine. */
const HOST = 'list.rollcall.dev'

/** That of this machine, as Debian names it. The guide is for a server with amd64. */
const ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch

const DIRECTORY = 'https://ca.test:9443/acme/local/directory'
/** Where Caddy as a certificate authority keeps its root certificate, in the folder of the walk. */
const CA_ROOT = 'ca/caddy/pki/authorities/local/root.crt'

const CA = `{
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
`

/** Programs that are replaced, because there is no systemd, no Debian mirror, no editor and no public certificate authority. */
const PROGRAMS: Readonly<Record<string, string>> = {
  sudo: `
    if [ "$1" = -u ]; then user=$2; shift 2; exec setpriv --reuid=$user --regid=$user --init-groups "$@"; fi
    exec "$@"`,
  apt: `
    shift
    for name; do case $name in
      *.deb) dpkg --install "$name" ;;
      python3-certbot-nginx) certbot plugins | grep -q '^\\* nginx' ;;
      *) command -v "$name" ;;
    esac; done`,
  sudoedit: `
    sed -i 's/list\\.example\\.org/${HOST}/g' "$1"
    if [ "$1" = /etc/caddy/Caddyfile ]; then sed -i "0,/^{/s#^{#{\\n acme_ca ${DIRECTORY}\\n acme_ca_root $WALK/${CA_ROOT}#" "$1"; fi`,
  nano: ':',
  certbot: `exec /usr/bin/certbot "$@" --server ${DIRECTORY} --agree-tos --register-unsafely-without-email --non-interactive`,
  systemctl: `
    run() {
      unit=/usr/lib/systemd/system/$1.service
      user=$(sed -n 's/^User=//p' $unit) folder=$(sed -n 's/^WorkingDirectory=//p' $unit)
      for name in $(sed -n 's/^StateDirectory=//p' $unit); do install -d -m 700 -o $user -g $user /var/lib/$name; done
      command=$(sed -n 's/^ExecStart=//p' $unit | sed 's/\\$\\$/$/g; s/%%/%/g')
      cd "\${folder:-/}"
      eval exec setpriv --reuid=$user --regid=$user --init-groups "$command"
    }
    case "$*" in
      'enable --now rollcall rollcall-backup.timer')
        run rollcall > $WALK/rollcall.log 2>&1 &
        until rollcall healthcheck; do kill -0 $!; sleep 0.3; done ;;
      'start rollcall-backup') (run rollcall-backup) ;;
      'list-timers rollcall-backup.timer') test -e /usr/lib/systemd/system/rollcall-backup.timer ;;
      'reload caddy')
        XDG_DATA_HOME=$WALK/caddy caddy run --config /etc/caddy/Caddyfile --adapter caddyfile > $WALK/caddy.log 2>&1 &
        echo $! > $WALK/caddy.pid
        until curl --silent --fail --output /dev/null https://${HOST}/; do kill -0 $!; sleep 0.3; done ;;
      'reload nginx') if [ -s /run/nginx.pid ]; then nginx -s reload; sleep 1; else nginx; fi ;;
      *) exit 1 ;;
    esac`,
}

/** The page over TLS, a subscription on it, and where plain HTTP leads. */
const LOOK_AT_PAGE = `
curl --silent --show-error --fail --output page.html --write-out 'page %{http_code} HTTP/%{http_version}\\n' https://${HOST}/
curl --silent --show-error --output /dev/null --write-out 'http %{http_code} %{redirect_url}\\n' http://${HOST}/
curl --silent --show-error --fail --output after.html --data email=ada%40site.io https://${HOST}/`

/** The walk, after the root file system is a copy. */
const WALK = [
  `XDG_DATA_HOME=$PWD/ca caddy run --config ca.Caddyfile --adapter caddyfile > ca.log 2>&1 &
   until test -s ${CA_ROOT}; do sleep 0.3; done
   cp ${CA_ROOT} /usr/local/share/ca-certificates/rollcall-test.crt
   update-ca-certificates > update.log 2>&1`,
  block('name'),
  // A person answers five questions; without a terminal, options do.
  block('install').replace('init /etc/rollcall', `init /etc/rollcall --base-url https://${HOST} --name Gazette`),
  block('caddy'),
  LOOK_AT_PAGE,
  block('look'),
  block('backup'),
  'kill $(cat caddy.pid)',
  block('nginx'),
  LOOK_AT_PAGE,
  block('flood').replace(/\d{4}-\d\d-\d\d/, '2026-01-01'),
  'sudo -u rollcall rollcall count --json',
  `certbot renew --force-renewal --no-random-sleep-on-renew 2>&1 | grep succeeded
   echo the end`,
]

/** `doctor` looks at the certificate, so it trusts the local authority too, which update-ca-certificates adds. */
const ISOLATE = `
mount -t tmpfs none "$1"; cd "$1"; mkdir upper work root
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" root
mount -t proc proc root/proc; mount --rbind /dev root/dev
ip link set lo up
printf '127.0.0.1 localhost ${HOST} ca.test\\n' > root/etc/hosts
exec chroot root env --ignore-environment HOME=/root NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt \\
  WALK="$0" PATH="$0/bin:/usr/sbin:/usr/bin:/sbin:/bin" bash -eu "$0/walk.sh"`

function block(name: string): string {
  return findBlock('docs/start.md', 'sh', name)
    .text.replaceAll('list.example.org', HOST)
    .replaceAll('amd64', ARCHITECTURE)
}

test('every step of docs/start.md works: the package, Caddy, the list, a backup, nginx, a flood', async () => {
  for (const line of block('package')
    .split('\n')
    .filter((text) => text.includes('npm run'))) {
    await $`sh -c ${line}`.cwd(ROOT).quiet()
  }
  const { version } = JSON.parse(readText('package.json'))
  const folder = await createFolder()
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  for (const name of ['bin', 'root']) mkdirSync(join(folder, name))
  chmodSync(folder, 0o755)
  for (const [name, script] of Object.entries(PROGRAMS)) {
    write(`bin/${name}`, `#!/bin/sh\nset -eu\n${script}\n`)
    chmodSync(join(folder, 'bin', name), 0o755)
  }
  write('ca.Caddyfile', CA)
  write('walk.sh', ['cd "$WALK"', ...WALK].join('\n'))
  await $`cp ${ROOT}/dist/rollcall_${version}_${ARCHITECTURE}.deb ${folder}`

  const isolated = ['unshare', '--mount', '--net', '--pid', '--fork', '--kill-child', '--propagation=private']
  const walk = Bun.spawn([...isolated, 'bash', '-euc', ISOLATE, folder, join(folder, 'root')], {
    stdout: Bun.file(join(folder, 'out.log')),
    stderr: Bun.file(join(folder, 'error.log')),
  })
  const code = await walk.exited
  const [out, error] = ['out.log', 'error.log'].map((name) => readFileSync(join(folder, name), 'utf8'))
  expect(code, `${out}${error}`).toBe(0)
  const page = `page 200 HTTP/2\nhttp 308 https://${HOST}/\n`
  expect(out?.split(page)).toHaveLength(3)
  expect(out).toContain('ada@site.io,')
  expect(out).toMatch(/^service +ok: /m)
  expect(out).not.toContain(' wrong: ')
  expect(out).toContain('rollcall_addresses_accepted_total 1')
  // The flood took everybody off the list.
  expect(out).toContain('{"subscribers":0,"reserved":0,"suppressed":1}\n')
  expect(out).toEndWith('the end\n')
}, 600_000)
