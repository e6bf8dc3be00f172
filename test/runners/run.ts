/**
 * The checks that need more than `npm ci`, such as an installed program or root:
 *
 *   npm run test:only                    lists them, with what each needs
 *   npm run test:only -- NAME [OPTION…]  runs one; says in one line what this machine lacks
 *   npm run test:all                     runs `npm test`, then every check for which this machine has what it needs
 *
 * Exit codes: 0 passed, 1 failed or something is missing, 2 wrong usage. `test:all` names what it left out, and that is no
 * failure. `npm run --silent test:only -- --packages NAME…` prints the Debian packages that checks need.
 */

import { existsSync } from 'node:fs'
import { findProgram, ROOT } from '../support/paths.ts'
import { findServer, type ServerKind } from './postgres.ts'

interface Runner {
  /** What it does, and its options, in one line. */
  readonly about: string
  /** The programs that it needs, with the Debian package of each. */
  readonly programs?: Readonly<Record<string, string>>
  /** Other Debian packages that it needs. */
  readonly packages?: readonly string[]
  readonly needsRoot?: boolean
  /** Returns what else is missing, as a sentence without a period. @param args its options */
  readonly findMissing?: (args: readonly string[]) => string | undefined
  /** What runs, one after the other. The options go to the last one. */
  readonly commands: readonly (readonly string[])[]
}

const toScript = (...args: readonly string[]) => [process.execPath, ...args]
/** @param seconds for each test and each preparation. Machines are busy, and apt, systemd and downloads are slow. */
const toTest = (file: string, seconds: number) =>
  toScript('test', '--timeout', String(seconds * 1000), `./test/runners/${file}`)

const NAMESPACES = { unshare: 'util-linux', nsenter: 'util-linux', setpriv: 'util-linux' }
/** Installs the packages that a check has in a folder of its own. */
const toInstall = (command: string, name: string) =>
  ['npm', command, '--no-audit', '--loglevel=error', '--prefix', `test/runners/${name}`] as const

/** Every check, the quick ones first. */
export const RUNNERS: Readonly<Record<string, Runner>> = {
  monitoring: {
    about: 'checks and tests the alert rules for Prometheus, and triggers each alert with a real service',
    programs: { promtool: 'prometheus', prometheus: 'prometheus' },
    commands: [toTest('monitoring.ts', 60), toTest('alerts.ts', 300)],
  },
  generators: {
    about:
      'installs client generators, Spectral with the OWASP rules, respect, Portman and Prism, and runs them on the description',
    commands: [toInstall('ci', 'generators'), toTest('generators/run.ts', 120)],
  },
  packages: {
    about: 'installs the package with npm, pnpm, yarn and bun, from the registry, and runs it',
    commands: [[...toInstall('install', 'packages'), '--no-package-lock'], toTest('packages/run.ts', 600)],
  },
  restic: {
    about: 'runs the blocks of the guide for restic, with a repository in a folder',
    programs: { restic: 'restic' },
    commands: [toTest('restic.ts', 60)],
  },
  faults: {
    about:
      'makes the n-th call of the system fail, for each n: in commands, the start of a service, connections to PostgreSQL',
    programs: { strace: 'strace' },
    commands: [toTest('faults.ts', 600), toTest('postgres-faults.ts', 600)],
  },
  systemd: {
    about: 'checks the systemd units, and runs the service with their restrictions',
    programs: { 'systemd-analyze': 'systemd', python3: 'python3', ...NAMESPACES },
    needsRoot: true,
    commands: [toTest('systemd.ts', 60)],
  },
  'old-browser': {
    about: 'opens the page in Chromium 87, and subscribes there',
    programs: { 'xvfb-run': 'xvfb' },
    packages: ['python3-pyqt5.qtwebengine'],
    findMissing: () => {
      const found = Bun.spawnSync(['/usr/bin/python3', '-c', 'import PyQt5.QtWebEngineWidgets']).success
      return found ? undefined : 'not installed: QtWebEngine for Python (Debian package python3-pyqt5.qtwebengine)'
    },
    commands: [toTest('old-browser.ts', 120)],
  },
  proxies: {
    about: 'runs Rollcall behind nginx, Caddy and HAProxy',
    programs: { nginx: 'nginx', caddy: 'caddy', haproxy: 'haproxy', openssl: 'openssl' },
    commands: [toTest('proxies.ts', 120)],
  },
  receivers: {
    about: 'installs Ghost from npm, and does round trips with it, Mailman and mlmmj',
    programs: {
      mailman: 'mailman3',
      'mlmmj-sub': 'mlmmj',
      // They compile what Ghost needs.
      make: 'make',
      'g++': 'g++',
      python3: 'python3',
    },
    commands: [toTest('receivers/run.ts', 1200)],
  },
  postgres: {
    about: 'runs the tests of the PostgreSQL store on an installed PostgreSQL 15 to 18 [--bin FOLDER]',
    ...toServerNeeds('server'),
    commands: [toScript('test/runners/postgres.ts')],
  },
  poolers: {
    about: 'runs the store suite behind PgBouncer [--bin FOLDER]',
    programs: { pgbouncer: 'pgbouncer' },
    ...toServerNeeds('poolers'),
    commands: [toScript('test/runners/postgres.ts', 'poolers')],
  },
  upgrade: {
    about:
      'runs a pretend second version on both stores, and the way back of the guide with psql and pg_restore [--bin FOLDER]',
    ...toServerNeeds('upgrade'),
    commands: [toScript('test/runners/postgres.ts', 'upgrade')],
  },
  citus: {
    about: 'runs the store suite on an installed Citus, and kills its nodes under load [--bin FOLDER]',
    ...toServerNeeds('citus'),
    commands: [toScript('test/runners/postgres.ts', 'citus')],
  },
  image: {
    about: 'builds the image from the sources, runs it as a container does, and publishes it to a registry',
    programs: { buildah: 'buildah', 'docker-registry': 'docker-registry', ...NAMESPACES },
    needsRoot: true,
    commands: [toScript('test/runners/image.ts')],
  },
  containers: {
    about: 'lives with the image for a day, as docs/containers.md says',
    programs: {
      buildah: 'buildah',
      podman: 'podman',
      crun: 'crun',
      'docker-compose': 'docker-compose',
      curl: 'curl',
      ...NAMESPACES,
    },
    needsRoot: true,
    packages: ['postgresql', 'aardvark-dns'],
    findMissing: () => {
      // Its package cannot be installed beside the one of Docker itself.
      if (!findProgram('docker')) return 'not installed: docker (Debian package docker.io)'
      if (!existsSync('/usr/lib/podman/aardvark-dns'))
        return 'not installed: aardvark-dns (Debian package aardvark-dns)'
      return findServer('server', []).missing
    },
    commands: [toTest('containers.ts', 600)],
  },
  release: {
    about: 'writes a release and the next one for this machine: its SBOM, its bytes and its numbers',
    programs: { 'dpkg-deb': 'dpkg-dev' },
    commands: [toTest('release.ts', 300)],
  },
  deb: {
    about: 'installs, upgrades, removes and purges the Debian package, on a copy of this machine in memory',
    programs: { lintian: 'lintian', 'dpkg-deb': 'dpkg-dev', 'apt-get': 'apt', ...NAMESPACES },
    needsRoot: true,
    findMissing: () => (Bun.which('rollcall') ? 'rollcall is installed on this machine: purge it first' : undefined),
    commands: [toTest('deb.ts', 600)],
  },
  guides: {
    about: 'follows the guides for a server in a clean Debian with systemd, as root and as a person with sudo',
    programs: { debootstrap: 'debootstrap', 'dpkg-deb': 'dpkg-dev', ...NAMESPACES },
    needsRoot: true,
    commands: [toTest('guides.ts', 1_800)],
  },
}

function toServerNeeds(kind: ServerKind): Pick<Runner, 'packages' | 'findMissing'> {
  return {
    packages: kind === 'citus' ? [] : ['postgresql'],
    findMissing: (args) => {
      const found = findServer(kind, args)
      return found.bin ? undefined : found.missing
    },
  }
}

/** Says what this machine lacks for a check, in one line; undefined if nothing. */
function findMissing({ programs = {}, needsRoot, findMissing }: Runner, args: readonly string[]): string | undefined {
  const missing = Object.keys(programs).filter((program) => findProgram(program) === null)
  const names = missing.map((program) => `${program} (Debian package ${programs[program]})`)
  const reasons = [
    names.length > 0 && `not installed: ${names.join(', ')}`,
    needsRoot && process.getuid?.() !== 0 && 'it must run as root',
    findMissing?.(args),
  ]
  return reasons.filter(Boolean).join('; ') || undefined
}

/** Runs commands until one fails. Returns whether all passed. */
function run(commands: readonly (readonly string[])[], args: readonly string[] = []): boolean {
  return commands.every((command, index) => {
    const all = [...command, ...(index === commands.length - 1 ? args : [])]
    const { exitCode } = Bun.spawnSync(all, { cwd: ROOT, stdio: ['inherit', 'inherit', 'inherit'] })
    return exitCode === 0
  })
}

function runAll(): boolean {
  const outcomes: string[] = []
  const passes = (name: string, commands: readonly (readonly string[])[]) => {
    console.log(`\n== ${name}`)
    const isPassed = run(commands)
    outcomes.push(`${isPassed ? 'passed' : 'FAILED'}  ${name}`)
    return isPassed
  }
  let isPassed = passes('npm test', [['npm', 'test']])
  for (const [name, runner] of Object.entries(RUNNERS)) {
    const missing = findMissing(runner, [])
    if (missing) outcomes.push(`lacks   ${name}: ${missing}`)
    else isPassed = passes(name, runner.commands) && isPassed
  }
  console.log(`\n${outcomes.join('\n')}`)
  return isPassed
}

/** Runs one check. Returns the exit code. */
function runOnly(name = '', args: readonly string[] = []): number {
  const runner = RUNNERS[name]
  if (!runner) {
    const list = `Usage: npm run test:only -- NAME [OPTION…]\n\n${Object.entries(RUNNERS).map(describe).join('\n')}`
    if (name) console.error(`there is no check ${name}\n\n${list}`)
    else console.log(list)
    return name ? 2 : 0
  }
  const missing = findMissing(runner, args)
  if (missing) console.error(`${name}: ${missing}`)
  return missing || !run(runner.commands, args) ? 1 : 0
}

/** The Debian packages that a check needs. */
const toPackages = ({ programs = {}, packages = [] }: Partial<Runner> = {}) => [
  ...new Set([...Object.values(programs), ...packages]),
]

function describe([name, runner]: [string, Runner]): string {
  const { about, needsRoot } = runner
  const needs = [...toPackages(runner), ...(needsRoot ? ['root'] : [])]
  return `  ${name.padEnd(12)}${about}${needs.length > 0 ? `; needs ${needs.join(', ')}` : ''}`
}

if (import.meta.main) {
  const [name, ...args] = process.argv.slice(2)
  if (name === '--packages') {
    const packages = args.flatMap((wanted) => toPackages(RUNNERS[wanted]))
    console.log([...new Set(packages)].join(' '))
  } else process.exit(name === '--all' ? Number(!runAll()) : runOnly(name, args))
}
