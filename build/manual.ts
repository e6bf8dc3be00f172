/** The manual page, which is the help of the command line: rollcall(1). */

import { join } from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import { ROOT } from './origin.ts'

/** Writes the manual page as roff, from the help of the program and of each verb. @throws Error when a help fails */
export function createManual(): string {
  const help = readHelp()
  // Such as "  serve                      Start the service".
  const verbs = [...help.matchAll(/^ {2}([a-z]+)\b.*\S/gm)]
    .map(([, verb = '']) => verb)
    .filter((verb) => verb !== 'help')
  const sections = verbs.map((verb) => `.SS ${verb}\n${toBlock(readHelp(verb))}`)
  return `.TH ROLLCALL 1 "" "Rollcall ${manifest.version}" "User Commands"
.SH NAME
rollcall \\- subscribe form and API for a newsletter list
.SH DESCRIPTION
${toBlock(help)}
.SH COMMANDS
${sections.join('\n')}
.SH FILES
.TP
.I /etc/rollcall/env
The settings of the service and of commands.
.TP
.I /etc/rollcall/site.yaml
The page: its name, words, color and languages.
.TP
.I /var/lib/rollcall
The list, and its backups.
.SH SEE ALSO
The guides are next to the license, in the folder share/doc/rollcall: start with start.md.
`
}

/** The help of the program, or of a verb. */
function readHelp(...verb: readonly string[]): string {
  const command = [process.execPath, '--no-env-file', '--config=/dev/null', join(ROOT, 'src/cli.ts'), 'help', ...verb]
  const { stdout, stderr, success } = Bun.spawnSync(command, { env: { ...process.env, ENV_FILE: '/dev/null' } })
  if (!success) throw new Error(`the help of ${verb.join(' ') || 'rollcall'}: ${stderr}`)
  return stdout.toString()
}

/** A text as it is: a line that begins with a period or an apostrophe would be a request of roff. */
function toBlock(text: string): string {
  const lines = text.trim().replaceAll('\\', '\\e').replaceAll('-', '\\-').split('\n')
  return `.nf\n${lines.map((line) => (/^[.']/.test(line) ? `\\&${line}` : line)).join('\n')}\n.fi`
}
