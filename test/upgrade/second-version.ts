/**
 * A pretend next Rollcall, 99.0.0: the sources with one more migration on both stores, whose column the code reads. And what the first
 * version wrote, which never changes: `frozen/` has a list with an inbox, its backup, and a dump of pg_dump.
 */

import { Database } from 'bun:sqlite'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { findBlock } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'
import { PROGRAM } from '../support/program.ts'
import { type CommandResult, type Environment, NO_ENV_FILE } from '../support/service.ts'
import { createFolder } from '../support/workspace.ts'

/** The people on the frozen list, who are not in reserved domains. Its inbox has one more. */
export const FROZEN = ['ann@mail.io', 'Cyd@Mail.io']
export const FROZEN_INBOX = 'fay@mail.io'

/** Each file, with the texts that the pretend version replaces. A migration can take long: `TRY_SQLITE` and `TRY_POSTGRES` are run in it. */
const CHANGES: readonly (readonly [file: string, text: string, replacement: string])[] = [
  ['package.json', `"version": "${manifest.version}"`, '"version": "99.0.0"'],
  [
    'src/store/sqlite/schema.ts',
    '[BASELINE]',
    `[BASELINE, \`ALTER TABLE subscribers ADD COLUMN source TEXT; \${process.env.TRY_SQLITE ?? ""}\`]`,
  ],
  [
    'src/store/postgres/schema.ts',
    '[BASELINE]',
    `[BASELINE, \`LOCK TABLE rollcall.list; ALTER TABLE rollcall.subscribers ADD COLUMN source text; \${process.env.TRY_POSTGRES ?? ""}\`]`,
  ],
  ['src/store/sqlite/read.ts', 'AS subscribedAt FROM', 'AS subscribedAt, source FROM'],
  ['src/store/postgres/read.ts', 'AS "subscribedAt" FROM', 'AS "subscribedAt", source FROM'],
  ...['write', 'compaction'].map(
    (name) =>
      [
        `src/store/sqlite/${name}.ts`,
        'INSERT INTO subscribers SELECT',
        'INSERT INTO subscribers (seq, email, subscribed_at) SELECT',
      ] as const,
  ),
]

/** Writes the pretend version. Returns its command. @throws when the sources have another text now */
export async function createSecondVersion(): Promise<readonly string[]> {
  const folder = await createFolder()
  for (const name of ['src', 'deploy', 'package.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  for (const [file, text, replacement] of CHANGES) {
    const before = readFileSync(join(folder, file), 'utf8')
    if (!before.includes(text)) throw new Error(`${file} has no text "${text}": correct the pretend version`)
    writeFileSync(
      join(folder, file),
      before.replace(text, () => replacement),
    )
  }
  return [process.execPath, '--no-env-file', '--config=/dev/null', join(folder, 'src/cli.ts')]
}

/** Writes a frozen SQLite file to a path. */
export function writeFrozen(name: 'list' | 'backup', path: string): void {
  const bytes = Bun.gunzipSync(readFileSync(join(import.meta.dir, 'frozen', `${name}-1.0.0.db.gz`)))
  writeFileSync(path, bytes, { mode: 0o600 })
}

/** The dump of the frozen list. */
export const FROZEN_DUMP = readFileSync(join(import.meta.dir, 'frozen/list-1.0.0.sql'), 'utf8')

/** The version of the schema of a SQLite list. */
export function readVersion(path: string): number {
  using db = new Database(path, { readonly: true })
  return db.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0
}

/**
 * Runs a block of the guide "Roll back" in a folder, with a version of Rollcall.
 *
 * @param program its command; default: the first version
 */
export async function runBlock(
  name: string,
  { folder, env, program = [PROGRAM] }: { folder: string; env: Environment; program?: readonly string[] },
): Promise<void> {
  const bin = join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'rollcall'), `#!/bin/sh\nexec ${program.join(' ')} "$@"\n`, { mode: 0o755 })
  const text = findBlock('docs/operations.md', 'sh', name).text.replaceAll('/var/lib/rollcall/', `${folder}/`)
  const child = Bun.spawn(['bash', '-euo', 'pipefail', '-c', text], {
    cwd: folder,
    env: { ...process.env, ...NO_ENV_FILE, ...env, PATH: `${bin}:${env.PATH ?? process.env.PATH}` },
    stderr: 'pipe',
  })
  const [stderr, code] = await Promise.all([child.stderr.text(), child.exited])
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${stderr}`)
}

/** What happens between an upgrade and the way back: one leaves, one who had left comes back, in another spelling, and one is new. */
export async function changeSince(
  run: (args: readonly string[], stdin?: string) => Promise<CommandResult>,
): Promise<void> {
  for (const [args, stdin] of [
    [['remove', 'ann@mail.io']],
    [['remove', '--forget', 'bob@mail.io']],
    [['import', '-'], 'email,date\nBob@Mail.io,2025-01-01\nnew@mail.io,2025-02-02\n'],
  ] as const) {
    const { code, stderr } = await run(args, stdin)
    if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`)
  }
}

/** The list after that, in any order. */
export const CHANGED = ['Bob@Mail.io', 'Cyd@Mail.io', FROZEN_INBOX, 'new@mail.io']
