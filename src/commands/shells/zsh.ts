import type { Command, Option } from 'commander'
import { listOptions, listVerbs, toArgumentValue, toLongName, toOptionValue, type Value } from '../definitions.ts'

/** Writes the completion for zsh, to be sourced or to be a file in `fpath`. */
export function createZshCompletion(program: Command): string {
  const verbs = listVerbs(program)
  const first = [
    ...verbs.map((verb) => `${verb.name()}:${verb.description()}`),
    ...listOptions(program).map((option) => `${toLongName(option)}:${option.description}`),
  ]
  return `#compdef rollcall
# Created by: rollcall completion zsh
_rollcall() {
  local -a first=(
${first.map((text) => `    ${quote(text)}`).join('\n')}
  )
  if ((CURRENT == 2)); then
    _describe command first
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
${verbs.map(toCase).join('\n')}
  esac
}
if [[ $funcstack[1] == _rollcall ]]; then
  _rollcall
else
  compdef _rollcall rollcall
fi
`
}

function toCase(verb: Command): string {
  const argument = toArgumentValue(verb)
  const specs = listOptions(verb).map(toSpec)
  if (argument !== 'none') specs.push(`*:${verb.registeredArguments[0]?.name()}:${toAction(argument)}`)
  return `    ${verb.name()}) _arguments ${specs.map((spec) => `\\\n      ${quote(spec)}`).join(' ')} ;;`
}

/** An option as _arguments takes it: `--name=[description]:value:action`. */
function toSpec(option: Option): string {
  const value = toOptionValue(option)
  const description = `[${option.description.replace(/[\\[\]:]/g, '\\$&')}]`
  if (value === 'none') return `${toLongName(option)}${description}`
  return `${toLongName(option)}=${description}:${option.attributeName()}:${toAction(value)}`
}

function toAction(value: Value): string {
  if (value === 'file') return '_files'
  return typeof value === 'string' ? ' ' : `(${value.join(' ')})`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
