/** Completes commands in real shells, with the script that `rollcall completion` prints. */

import { join } from 'node:path'
import { runCommand } from '../support/service.ts'

export interface Shell {
  readonly name: string
  /** Arguments before the script. They keep the shell from reading the files of its user. */
  readonly args: readonly string[]
  /** Completes the last word of `$line`. Prints the line with all completions, or one completion a line. */
  readonly script: string
}

const BASH: Shell = {
  name: 'bash',
  args: ['--norc', '-c'],
  script: `
    source ./completion
    # Bash makes a word of each "=", and an empty one of a blank at the end.
    read -ra COMP_WORDS <<< "\${line//=/ = }"
    if [[ $line == *' ' ]]; then COMP_WORDS+=(''); fi
    COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
    # The real one works only while the user completes a line.
    compopt() { :; }
    read -ra definition <<< "$(complete -p rollcall)"
    "\${definition[2]}"
    printf '%s\\n' "\${COMPREPLY[@]}"`,
}

/** A key inserts all completions, and another one writes the line to a file. */
const ZSH: Shell = {
  name: 'zsh',
  args: ['-f', '-c'],
  script: `
    zmodload zsh/zpty
    zpty shell "$ZSH_ARGZERO" -f -i
    zpty -w shell 'autoload -U compinit; compinit -D -u; source ./completion
    insert-all() { _main_complete; compstate[insert]=all }
    zle -C insert-all complete-word insert-all; bindkey "^I" insert-all
    write-line() { print -r -- "$BUFFER" > line; exit }
    zle -N write-line; bindkey "^O" write-line; touch ready'
    until [[ -e ready ]]; do sleep 0.02; done
    zpty -w -n shell "$line"$'\\t\\x0f'
    until [[ -s line ]]; do sleep 0.02; done
    cat line; rm line ready`,
}

const FISH: Shell = {
  name: 'fish',
  args: ['--no-config', '-c'],
  script: 'source ./completion; complete -C $line | string replace -r "\\t.*" ""',
}

export const SHELLS = { bash: BASH, zsh: ZSH, fish: FISH } as const

/** What every shell offers for the last word of a line. There are the files `old-list.csv` and `old-notes.txt`. */
export const CASES: readonly (readonly [line: string, ...words: readonly string[]])[] = [
  ['rollcall exp', 'export'],
  ['rollcall --v', '--version'],
  ['rollcall export --fo', '--follow', '--for', '--format'],
  ['rollcall export --format ', 'csv', 'ndjson', 'txt'],
  ['rollcall export --json --for g', 'ghost'],
  ['rollcall export --format=n', 'ndjson'],
  ['rollcall export --limit '],
  ['rollcall export --out old-', 'old-list.csv', 'old-notes.txt'],
  ['rollcall import old-l', 'old-list.csv'],
  ['rollcall import --date-order ', 'dmy', 'mdy'],
  ['rollcall has '],
  ['rollcall completion ', 'bash', 'fish', 'zsh'],
  ['rollcall help bac', 'backup'],
]

/** Writes the completion and the files of the cases to a folder. */
export async function prepareFolder(folder: string, { name }: Shell): Promise<void> {
  const { stdout } = await runCommand(['completion', name], { folder })
  await Bun.write(join(folder, 'completion'), stdout)
  for (const file of ['old-list.csv', 'old-notes.txt']) await Bun.write(join(folder, file), '')
}

/** Completes the last word of a line. Returns the words that the shell offers, sorted, without `--option=`. */
export async function complete(line: string, { name, args, script }: Shell, folder: string): Promise<string[]> {
  const child = Bun.spawn([Bun.which(name) ?? name, ...args, script], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, TERM: 'xterm', line },
    stdin: 'ignore',
    timeout: 60_000,
  })
  const text = await child.stdout.text()
  const start = line.lastIndexOf(' ') + 1
  const words = text.startsWith(line.slice(0, start)) ? text.slice(start) : text
  return words
    .split(/\s+/)
    .map((word) => word.replace(/^--[a-z]+=(?=.)|=$/, ''))
    .filter(Boolean)
    .sort()
}
