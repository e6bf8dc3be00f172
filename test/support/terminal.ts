/** A picture of a terminal: real commands on a list of their own, and what they print. */

import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { html } from 'hono/html'
import { createFolder, runCommand } from './service.ts'

const COMMANDS = [
  'import old-list.csv',
  'status',
  'export --format ndjson --limit 2',
  'backup backups/monday.db',
] as const

const DAY_MS = 86_400_000

/** Runs the commands. Returns a page in which the element `main` is the terminal. */
export async function renderTerminal(): Promise<string> {
  const folder = await createFolder()
  await writeFile(join(folder, 'old-list.csv'), createOldList())
  await Bun.$`mkdir backups`.cwd(folder)
  const commands = []
  for (const command of COMMANDS) {
    const { stdout, stderr } = await runCommand(command.split(' '), { folder })
    commands.push(html`<p><b>$</b> npx rollcall ${command}
${stdout + stderr}</p>`)
  }
  await rm(folder, { recursive: true })
  return html`<!doctype html>
<meta charset="utf-8">
<title>Terminal</title>
<style>
  body { margin: 0; background: transparent }
  main { box-sizing: border-box; width: 960px; padding: 20px 24px; border-radius: 10px; background: #1c1f24; color: #d8dce3 }
  /* At this size a column is 9 pixels wide, so the bars of the chart have no gaps. */
  p { margin: 0; font: 14.95px/20px 'DejaVu Sans Mono', monospace; white-space: pre-wrap; overflow-wrap: anywhere }
  b { color: #6cc79a }
</style>
<main>${commands}</main>
`.toString()
}

/** A list of 40 days, with some repeats and mistakes. `.harbour` is no top-level domain, and not a reserved one. */
function createOldList(): string {
  const today = Date.now()
  const rows = ['email,subscribed_at']
  for (let day = 39; day >= 0; day--) {
    // Some days have more readers than others, and every seventh day has an issue.
    const count = 12 + ((day * 7919) % 17) + (day % 7 === 3 ? 45 : 0)
    for (let index = 0; index < count; index++) {
      const at = new Date(today - day * DAY_MS - (count - index) * 60_000)
      rows.push(`reader${day}.${index}@mail.harbour,${at.toISOString()}`)
    }
  }
  rows[1] = rows[1]?.replace(/^[^,]*/, 'ada@mail.harbour') ?? ''
  rows[2] = rows[2]?.replace(/^[^,]*/, 'Bob.Miller@mail.harbour') ?? ''
  return `${rows.join('\n')}\nADA@mail.harbour,\ncyd@mail\n`
}
