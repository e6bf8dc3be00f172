/** What a build says about itself: the licenses and the parts of what it contains, and its version, which is in one place. */

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readNotices } from '../../build/notices.ts'
import { listLibraries, toImageSbom } from '../../build/sbom.ts'
import { dependencies, version } from '../../package.json' with { type: 'json' }
import { readText } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'

test('the notices have every license of a package: that of its code, and that of its font', () => {
  const notices = readNotices()
  const [, fraunces = ''] = /^@expo-google-fonts\/fraunces [\d.]+$(.*?)^-{80}$/ms.exec(notices) ?? []
  expect(fraunces).toContain('Copyright (c) 2020 Expo')
  expect(fraunces).toContain('SIL OPEN FONT LICENSE')
})

test('the notices and the SBOM have every crate that the renderer of pictures names', () => {
  const renderer = readFileSync(join(ROOT, 'node_modules/@resvg/resvg-wasm/index_bg.wasm'), 'latin1')
  const paths = [...renderer.matchAll(/crates\.io-[0-9a-f]+\/([\w-]+)-(\d+\.\d+\.\d+)\//g)]
  const crates = [...new Set(paths.map(([, name, number]) => `${name} ${number}`))].sort()
  expect(crates.length).toBeGreaterThan(30)
  const notices = readNotices()
  expect(crates.filter((crate) => !notices.includes(`\n${crate} | `))).toEqual([])
  const libraries = listLibraries().map(({ name, version: number }) => `${name} ${number}`)
  expect(libraries).toContainValues(crates)
})

test('the SBOM has the libraries of the runtime; that of the image has the packages too, and the libraries of Debian', () => {
  const names = listLibraries().map(({ name }) => name)
  const ofRuntime = ['JavaScriptCore', 'boringssl', 'sqlite', 'zlib-ng', 'uWebsockets']
  expect(names).toContainValues(ofRuntime)
  const { components } = JSON.parse(toImageSbom([{ name: 'libc6', version: '2.36-9' }], new Date()))
  const purls = components.map(({ purl, name }: { purl?: string; name: string }) => purl ?? name)
  const hono = `pkg:npm/hono@${dependencies.hono}`
  expect(purls).toContainValues([
    ...ofRuntime,
    hono,
    'pkg:deb/debian/libc6@2.36-9',
    'pkg:npm/%40resvg/resvg-wasm@2.6.2',
  ])
})

/** What people read, run or build, apart from the history and the decisions. The version of the contract is another number. */
const FILES = ['*.{md,yaml}', 'Containerfile', '{.ci,.github,bench,build,deploy,docs,endurance,src}/**/*']
  .flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: ROOT, dot: true })])
  .filter(
    (file) =>
      !/node_modules|^build\/licenses|package-lock|^bench\/results|^docs\/decisions|\.png$|^CHANGELOG|openapi\.json$|description\.ts$/.test(
        file,
      ),
  )

test('the version is in package.json, its lock file and the changelog, and nowhere else', () => {
  expect(FILES.length).toBeGreaterThan(100)
  const number = new RegExp(`(?<![\\d.]|Webhooks\\S* )${RegExp.escape(version)}(?![\\d.]*\\d)`)
  expect(FILES.filter((file) => number.test(readText(file)))).toEqual([])
})
