/** The workflows for GitHub: actions are pinned, and scripts exist. They are not run here. */

import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { scripts } from '../../package.json' with { type: 'json' }
import { readText } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'

const FOLDER = '.github/workflows'

test('every action is pinned by its commit, no checkout keeps the token, and every script exists', () => {
  const text = readdirSync(join(ROOT, FOLDER))
    .map((name) => readText(`${FOLDER}/${name}`))
    .join('\n')
  const uses = text.match(/(?<=uses: )[^.].*/g) ?? []
  expect(uses.length).toBeGreaterThan(5)
  expect(uses.filter((use) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(use))).toEqual([])
  expect(text.match(/persist-credentials: false/g)?.length).toBe(text.match(/actions\/checkout@/g)?.length)
  const names = text.match(/(?<=npm run )[\w:]+/g) ?? []
  expect(names.filter((name) => !(name in scripts))).toEqual([])
})
