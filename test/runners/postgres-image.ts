/** An image that stands for `postgres:18`, which is on a registry: the PostgreSQL of this machine, started as the real one is. */

import { cpSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildah, copyProgram, run } from './build-image.ts'

/** Reads the variables of the real image, and creates the user and the database that they name. */
const START = `#!/bin/sh
set -eu
export PGDATA=/var/lib/postgresql/data
if [ "$(id -u)" = 0 ]; then
  password=$(cat "$POSTGRES_PASSWORD_FILE")
  chown 999:999 /var/lib/postgresql
  export password
  exec setpriv --reuid=999 --regid=999 --clear-groups "$0"
fi
if [ ! -e $PGDATA/PG_VERSION ]; then
  echo "$password" > /tmp/password
  initdb --username "$POSTGRES_USER" --pwfile /tmp/password --auth-host scram-sha-256 --auth-local trust
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> $PGDATA/pg_hba.conf
  echo "CREATE DATABASE $POSTGRES_USER" | postgres --single postgres
fi
exec postgres -c listen_addresses='*'
`

/** What START runs. The programs of PostgreSQL also start a shell by this path. */
const TOOLS = ['/bin/sh', ...['id', 'cat', 'rm', 'chown', 'setpriv'].map((name) => Bun.which(name) ?? name)]

/**
 * Builds the image. buildImage() has said where buildah keeps it.
 *
 * @param bin the folder with the programs of PostgreSQL @throws Error with what failed
 */
export function buildPostgres(bin: string): void {
  const container = buildah('from', '--name', 'postgres', 'scratch').trim()
  const root = buildah('mount', container).trim()
  const version = run([join(bin, 'pg_config'), '--sharedir', '--pkglibdir'])
    .trim()
    .split('\n')
  for (const name of ['tmp', 'var/run/postgresql', 'var/lib/postgresql', 'etc'])
    mkdirSync(join(root, name), { recursive: true })
  for (const program of TOOLS) copyProgram(program, root)
  for (const program of ['initdb', 'postgres', 'psql', 'pg_dump', 'pg_restore', 'pg_isready'])
    copyProgram(join(bin, program), root)
  for (const folder of version) cpSync(realpathSync(folder), join(root, folder), { recursive: true, dereference: true })
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0::/:/bin/sh\npostgres:x:999:999::/var/lib/postgresql:/bin/sh\n')
  writeFileSync(join(root, 'start'), START, { mode: 0o755 })
  run(['chown', '999:999', join(root, 'var/run/postgresql'), join(root, 'var/lib/postgresql')])
  run(['chmod', '1777', join(root, 'tmp')])
  const path = `PATH=${bin}:/usr/bin:/bin:/usr/sbin:/sbin`
  buildah('config', '--env', path, '--entrypoint', '["/start"]', '--cmd', 'postgres', container)
  buildah('commit', '--rm', container, 'docker.io/library/postgres:18')
}
