/** A clean Debian 12 with systemd and the packages of the build, in which a person follows the guides. */

import { beforeAll } from 'bun:test'
import { existsSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { $ } from 'bun'
import { writeDeb } from '../../build/deb.ts'
import { buildExecutable, HOST_TARGET } from '../../build/executable.ts'
import { writeArchive } from '../../build/installation.ts'
import { readOrigin } from '../../build/origin.ts'
import { findBlock } from '../support/markdown.ts'
import { createFolder } from '../support/workspace.ts'
import { ARCHITECTURE, type Run, SYSTEMD, startMachine } from './machine.ts'

/** In place of the names in the guides, which doctor knows as examples. Here they lead to this machine. */
export const HOST = 'list.rollcall.dev'
export const GARDEN = 'garden.rollcall.dev'

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
export interface Server {
  /** Runs a script as root of the machine: what the guides leave to the world around it. */
  readonly root: Run
  /** Runs a script as the person, in the home folder. */
  readonly person: Run
  /** Runs a block of a guide as the person. @param change puts what the test knows into its place */
  follow(file: string, name: string, change?: (text: string) => string): Promise<string>
}

export async function startServer(user: 'root' | 'ann'): Promise<Server> {
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
export function toHere(text: string): string {
  return text
    .replaceAll('list.example.org', HOST)
    .replaceAll('garden.example.org', GARDEN)
    .replaceAll('amd64', ARCHITECTURE)
}

/** A person answers the questions; without a terminal, options do. */
export const answer = (text: string) =>
  text
    .replace('init /etc/rollcall\n', `init /etc/rollcall --base-url https://${HOST} --name Gazette\n`)
    .replace('init /etc/rollcall/garden\n', `init /etc/rollcall/garden --base-url https://${GARDEN} --name Garden\n`)

/** Puts a file of the build into the home folder, as scp does. */
export const bring = ({ root }: Server, user: string, name: string) =>
  root(`install -o ${user} -m 600 /srv/${name} $(getent passwd ${user} | cut -d : -f 6)/`)
