/** The workflows for GitHub: actions are pinned, and jobs may do no more than they need. They are not run here. */

import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { scripts } from '../../package.json' with { type: 'json' }
import { readText } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'

const FOLDER = '.github/workflows'
const WORKFLOWS = readdirSync(join(ROOT, FOLDER)).map((name) => `${FOLDER}/${name}`)

/** Scopes that a job may write. All others may read the contents of the repository only. */
const WRITES: Readonly<Record<string, readonly string[]>> = {
  build: ['id-token', 'attestations'],
  npm: ['id-token'],
  image: ['packages', 'id-token', 'attestations'],
  publish: ['contents'],
}

test('every action is pinned by its commit, the same one everywhere, with its version', () => {
  const uses = WORKFLOWS.flatMap((file) => readText(file).match(/(?<=uses: )[^.].*/g) ?? [])
  expect(uses.length).toBeGreaterThan(5)
  expect(uses.filter((use) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(use))).toEqual([])
  expect(new Set(uses).size).toBe(new Set(uses.map((use) => use.split('@')[0])).size)
})

test.each(WORKFLOWS)('%s: no job has a permission that it does not need, and no checkout keeps the token', (file) => {
  const text = readText(file)
  const workflow = parse(text)
  expect(workflow.permissions).toEqual({})
  for (const [name, { permissions }] of Object.entries<{ permissions: object }>(workflow.jobs)) {
    const writes = Object.entries(permissions).filter(([, access]) => access !== 'read')
    expect({ name, writes: writes.map(([scope]) => scope) }).toEqual({ name, writes: [...(WRITES[name] ?? [])] })
  }
  expect(text.match(/persist-credentials: false/g)?.length).toBe(text.match(/actions\/checkout@/g)?.length)
})

test('no script has a context in it, which would become a part of the script', () => {
  const steps = WORKFLOWS.flatMap((file) =>
    Object.values<{ steps?: { run?: string }[] }>(parse(readText(file)).jobs).flatMap((job) => job.steps ?? []),
  )
  expect(steps.filter(({ run }) => run?.includes('${'.concat('{')))).toEqual([])
})

test('the workflows run the test command of the README on three versions of Node, and scripts that exist', () => {
  const { test } = parse(readText(`${FOLDER}/ci.yml`)).jobs
  expect(test.strategy.matrix.node).toEqual([20, 22, 24])
  expect(test.steps.at(-1)).toEqual({ run: 'npm ci && npm test' })
  expect(readText('README.md')).toContain('`npm ci && npm test`')
  const names = WORKFLOWS.flatMap((file) => readText(file).match(/(?<=npm run )[\w:]+/g) ?? [])
  expect(names.filter((name) => !(name in scripts))).toEqual([])
})
