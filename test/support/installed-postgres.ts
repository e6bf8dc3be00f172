/** Runs test files on a PostgreSQL that is installed, for checks that are not part of `npm test`. */

import { accessSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './paths.ts'

/** A server that is installed, or in one line what is missing. */
export type Installed = { readonly ok: true; readonly bin: string } | { readonly ok: false; readonly missing: string }

/** Where Debian installs the versions that Rollcall is made for, the newest first. */
const DEBIAN = [18, 17, 16, 15].map((version) => `/usr/lib/postgresql/${version}/bin`)

/** Where the module of Citus is, from the folder of the binaries: as Debian installs it, and as a build does. */
const CITUS_MODULES = ['../lib/citus.so', '../lib/postgresql/citus.so']

/** Finds the folder with the binaries of a server: the one that is given, or the newest of Debian. */
export function findPostgres(given?: string): Installed {
  const bin = (given === undefined ? DEBIAN : [given]).find((folder) => isServer(folder))
  if (bin !== undefined) return { ok: true, bin }
  return {
    ok: false,
    missing:
      given === undefined
        ? 'PostgreSQL is not installed: apt-get install postgresql'
        : `there is no PostgreSQL in ${given}`,
  }
}

/** Finds a server with Citus. */
export function findCitus(given?: string): Installed {
  const isCitus = (bin: string) => isServer(bin) && CITUS_MODULES.some((module) => existsSync(join(bin, module)))
  const bin = (given === undefined ? DEBIAN : [given]).find(isCitus)
  if (bin !== undefined) return { ok: true, bin }
  return {
    ok: false,
    missing: `Citus is not installed in ${given ?? 'a PostgreSQL of Debian'}: see https://github.com/citusdata/citus`,
  }
}

/** Runs test files on a server. Returns the exit code. */
export async function runTests(
  files: readonly string[],
  { bin, env = {} }: { bin: string; env?: Readonly<Record<string, string>> },
): Promise<number> {
  const child = Bun.spawn([process.execPath, 'test', '--timeout', '60000', ...files], {
    cwd: ROOT,
    env: { ...process.env, ...env, TEST_POSTGRES_BIN: bin },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return await child.exited
}

/** Returns the version of a server, such as "postgres (PostgreSQL) 15.20". */
export function readServerVersion(bin: string): string {
  return Bun.spawnSync([join(bin, 'postgres'), '--version'])
    .stdout.toString()
    .trim()
}

function isServer(bin: string): boolean {
  try {
    for (const program of ['initdb', 'postgres']) accessSync(join(bin, program), constants.X_OK)
    return true
  } catch {
    return false
  }
}
