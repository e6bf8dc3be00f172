/** The workflows for GitHub: actions are pinned, and every step is a script that exists. They are not run here. */

import { expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { BUILDS } from '../../build/run.ts'
import { scripts } from '../../package.json' with { type: 'json' }
import { RUNNERS } from '../runners/run.ts'
import { readText } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}

interface Job {
  readonly steps?: readonly Step[]
  readonly strategy?: { readonly matrix: { readonly include?: readonly { readonly checks: string }[] } }
}

const FOLDER = '.github/workflows'
const FILES = readdirSync(join(ROOT, FOLDER)).map((name) => `${FOLDER}/${name}`)
const JOBS = FILES.flatMap((file) => Object.values<Job>(parse(readText(file)).jobs))
const STEPS = JOBS.flatMap(({ steps = [] }) => steps)
const COMMANDS = STEPS.flatMap(({ run }) => run ?? [])

test('every action is pinned by its commit, and no checkout keeps the token', () => {
  const uses = FILES.flatMap((file) => readText(file).match(/(?<=uses: )[^.].*/g) ?? [])
  expect(uses.length).toBeGreaterThan(5)
  expect(uses.filter((use) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(use))).toEqual([])
  const checkouts = STEPS.filter(({ uses }) => uses?.startsWith('actions/checkout@'))
  expect(checkouts.length).toBeGreaterThan(5)
  expect(checkouts.filter((step) => step.with?.['persist-credentials'] !== false)).toEqual([])
})

/** Says why a step is not a script of this repository; undefined if it is one. */
function findFault(command: string): string | undefined {
  const [program = '', verb = '', name = '', ...args] = command.trim().split(/\s+/)
  if (command.trim().includes('\n')) return 'it has more than one line'
  if (program.startsWith('.ci/')) return existsSync(join(ROOT, program)) ? undefined : `there is no ${program}`
  if (program !== 'npm') return 'it is no script'
  if (verb === 'ci') return undefined
  if (verb !== 'run' || !(name in scripts)) return `there is no script ${name}`
  const [target = ''] = args.filter((arg) => arg !== '--')
  const names: Readonly<Record<string, object>> = { build: BUILDS, 'test:only': RUNNERS }
  if (target && names[name] && !(target in names[name])) return `${name} has no ${target}`
  return undefined
}

test('every step of a workflow is a script that runs here too', () => {
  expect(COMMANDS.length).toBeGreaterThan(8)
  expect(COMMANDS.flatMap((command) => findFault(command) ?? [])).toEqual([])
  const faults = [
    'curl x.org | sh',
    'npm run nothing',
    'npm run test:only -- nothing',
    'npm run build nothing',
    '.ci/no',
  ]
  expect(faults.filter((command) => findFault(command) === undefined)).toEqual([])
})

test('the checks that a workflow names exist, and those of each kind of machine are among them', () => {
  const lists = JOBS.flatMap(({ strategy }) => strategy?.matrix.include ?? []).map(({ checks }) => checks.split(' '))
  expect(lists.flat().filter((name) => !(name in RUNNERS))).toEqual([])
  // Citus is in no distribution.
  expect(Object.keys(RUNNERS).filter((name) => !lists[0]?.includes(name))).toEqual(['citus'])
  for (const list of lists) expect(list).toContainValues(['start', 'postgres', 'poolers'])
})

test('the base image is pinned, and Dependabot proposes a newer one', () => {
  const images = [...readText('Containerfile').matchAll(/^FROM (\S+)/gm)].map(([, name]) => name)
  expect(images).toEqual([expect.stringMatching(/^docker\.io\/library\/\S+@sha256:[0-9a-f]{64}$/), 'scratch'])
  const { updates } = parse(readText('.github/dependabot.yml'))
  expect(updates).toContainEqual(expect.objectContaining({ 'package-ecosystem': 'docker', directory: '/' }))
})

test('a check says in one line what is missing, an unknown one lists all, and CI asks what to install', () => {
  const run = (...args: readonly string[]) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, 'test/runners/run.ts', ...args], {
      cwd: ROOT,
    })
    return [exitCode, stdout.toString(), stderr.toString()]
  }
  expect(run('poolers', '--bin', '/nowhere')).toEqual([1, '', expect.stringMatching(/^poolers: .*in \/nowhere\n$/)])
  expect(run('nothing')).toEqual([2, '', expect.stringContaining('\n  poolers ')])
  expect(run()).toEqual([0, expect.stringContaining('\n  poolers '), ''])
  expect(run('--packages', 'poolers', 'image')).toEqual([
    0,
    expect.stringMatching(/^pgbouncer postgresql buildah /),
    '',
  ])
})
