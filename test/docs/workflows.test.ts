/** The workflows for GitHub: actions are pinned, and jobs may do no more than they need. They are not run here. */

import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { scripts } from '../../package.json' with { type: 'json' }
import { readText } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'

const FOLDER = '.github/workflows'
const TEXTS = readdirSync(join(ROOT, FOLDER)).map((name) => readText(`${FOLDER}/${name}`))

/** What the jobs may write. All others may read the contents of the repository only. */
const WRITES = [
  'build: id-token attestations',
  'npm: id-token',
  'image: packages id-token attestations',
  'publish: contents',
]

test('every action is pinned by its commit, and no checkout keeps the token', () => {
  const text = TEXTS.join('\n')
  const uses = text.match(/(?<=uses: )[^.].*/g) ?? []
  expect(uses.length).toBeGreaterThan(5)
  expect(uses.filter((use) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(use))).toEqual([])
  expect(text.match(/persist-credentials: false/g)?.length).toBe(text.match(/actions\/checkout@/g)?.length)
})

test('no job has a permission that it does not need, and every script exists', () => {
  const workflows = TEXTS.map((text) => parse(text))
  expect(workflows.map(({ permissions }) => permissions)).toEqual([{}, {}])
  const jobs = workflows.flatMap((workflow) => Object.entries<{ permissions: object }>(workflow.jobs))
  const writes = jobs.flatMap(([name, { permissions }]) => {
    const scopes = Object.entries(permissions).filter(([, access]) => access !== 'read')
    return scopes.length > 0 ? [`${name}: ${scopes.map(([scope]) => scope).join(' ')}`] : []
  })
  expect(writes).toEqual(WRITES)
  const names = TEXTS.flatMap((text) => text.match(/(?<=npm run )[\w:]+/g) ?? [])
  expect(names.filter((name) => !(name in scripts))).toEqual([])
})
