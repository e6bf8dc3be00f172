/** Checks a client that a generator wrote: a program with it compiles and subscribes, and wrong calls do not compile. */

import { expect } from 'bun:test'
import { join } from 'node:path'

/** A program that uses a generated client. Its argument is the origin of the service. */
export interface ClientProgram {
  readonly name: string
  /** Declares `ok`, `code`, `hint`, `resource` and `description` with their types, from four calls, and imports `Code`. */
  readonly text: string
  /** Wrong statements, which must not compile. */
  readonly mistakes: readonly string[]
}

const PRINT = 'console.log(JSON.stringify({ ok, code, hint, resource, description }))\n'

/** @param folder has the generated client and a `node_modules` */
export async function checkClient({ name, text, mistakes }: ClientProgram, folder: string, origin: string) {
  const wrong = [...mistakes, `export const other: Code = 'rate_limited'`]
  await Bun.write(join(folder, `${name}.mts`), text + PRINT)
  await Bun.write(join(folder, `${name}-mistakes.mts`), [text + PRINT, ...wrong].join('\n'))
  const first = (text + PRINT).split('\n').length + 1
  expect(await compile(folder, [`${name}.mts`, `${name}-mistakes.mts`])).toEqual(
    wrong.map((_, index) => `${name}-mistakes.mts:${first + index}`),
  )
  expect(JSON.parse(await runProgram(folder, `${name}.mts`, origin))).toEqual({
    ok: true,
    code: 'invalid_email',
    hint: expect.stringContaining('name@example.org'),
    resource: 'http://127.0.0.1:3000',
    description: 'http://127.0.0.1:3000/openapi.json',
  })
}

/** Checks the types of files. Returns the places of errors, as FILE:LINE. */
async function compile(folder: string, files: readonly string[]): Promise<string[]> {
  const compilerOptions = {
    strict: true,
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'esnext',
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
  }
  await Bun.write(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  const child = Bun.spawn([process.execPath, 'check'], { cwd: folder, stdout: 'pipe', stderr: 'ignore' })
  const places = (await child.stdout.text()).matchAll(/^(\S+)\((\d+),\d+\): error TS/gm)
  return [...new Set([...places].map(([, file, line]) => `${file}:${line}`))].sort()
}

/** Runs a program in a folder. Returns its output. */
export async function runProgram(folder: string, ...args: readonly string[]): Promise<string> {
  const env = { PATH: process.env.PATH ?? '' }
  const child = Bun.spawn([process.execPath, ...args], { cwd: folder, env, stdout: 'pipe', stderr: 'inherit' })
  return await child.stdout.text()
}
