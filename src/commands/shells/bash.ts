import type { Command } from 'commander'
import { listOptions, listVerbs, toArgumentValue, toLongName, toOptionValue, type Value } from '../definitions.ts'

/** Writes the completion for bash 4 or later. */
export function createBashCompletion(program: Command): string {
  const verbs = listVerbs(program)
  const first = [...verbs.map((verb) => verb.name()), ...listOptions(program).map(toLongName)]
  return `# Created by: rollcall completion bash
_rollcall() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} words= files=
  # Bash makes a word of the "=" in --option=value.
  if [[ $word == = ]]; then
    word=
  elif [[ $before == = ]]; then
    before=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if ((COMP_CWORD == 1)); then
    words='${first.join(' ')}'
  else
    case "\${COMP_WORDS[1]} $before" in
${indent(toValueCases(verbs), 6)}
      *)
        case "\${COMP_WORDS[1]} $word" in
${indent(verbs.flatMap(toWordCases), 10)}
        esac
        ;;
    esac
  fi
  if [[ $files ]]; then compopt -o filenames; fi
  mapfile -t COMPREPLY < <(compgen \${files:+-f} -W "$words" -- "$word")
}
complete -F _rollcall rollcall
`
}

/** The values of options. Nothing completes those that can be any text. */
function toValueCases(verbs: readonly Command[]): string[] {
  const texts: string[] = []
  const cases: string[] = []
  for (const verb of verbs) {
    for (const option of listOptions(verb)) {
      const pattern = `'${verb.name()} ${toLongName(option)}'`
      const value = toOptionValue(option)
      if (value === 'text') texts.push(pattern)
      else if (value !== 'none') cases.push(`${pattern}) ${toAction(value)} ;;`)
    }
  }
  return [`${texts.join(' | ')}) ;;`, ...cases]
}

/** The options and the argument of a verb. */
function toWordCases(verb: Command): string[] {
  const options = listOptions(verb).map(toLongName)
  const argument = toArgumentValue(verb)
  if (argument === 'none') return [`'${verb.name()} '*) ${toAction(options)} ;;`]
  const cases = [`'${verb.name()} -'*) ${toAction(options)} ;;`]
  return argument === 'text' ? cases : [...cases, `'${verb.name()} '*) ${toAction(argument)} ;;`]
}

function toAction(value: Value): string {
  return typeof value === 'string' ? 'files=yes' : `words='${value.join(' ')}'`
}

function indent(lines: readonly string[], columns: number): string {
  return lines.map((line) => ' '.repeat(columns) + line).join('\n')
}
