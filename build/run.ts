/**
 * `npm run build`: writes an executable for this machine to `dist/`.
 *
 * `npm run build TARGET…` writes those for other machines, and `npm run build all` all of them.
 */

import { resolve } from 'node:path'
import { readCommit } from './commit.ts'
import { buildExecutable, isTarget, TARGETS, toHostTarget } from './executable.ts'

const ROOT = resolve(import.meta.dir, '..')
const wanted = process.argv.slice(2)
if (wanted.length === 0) wanted.push(toHostTarget())
const targets = (wanted.includes('all') ? Object.keys(TARGETS) : wanted).filter(isTarget)
const unknown = wanted.filter((name) => name !== 'all' && !isTarget(name))
if (unknown.length > 0) {
  console.error(`there is no target ${unknown.join(', ')}: use ${Object.keys(TARGETS).join(', ')} or all`)
  process.exit(2)
}

const commit = readCommit()
for (const target of targets) {
  const outfile = resolve(ROOT, 'dist', `rollcall-${target}`)
  await buildExecutable({ target, outfile, commit })
  console.log(`dist/rollcall-${target}: ${Math.round(Bun.file(outfile).size / 1e6)} MB`)
}
