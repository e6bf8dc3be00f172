import type { Command, Option } from 'commander'
import { listOptions, listVerbs, toArgumentValue, toOptionValue, type Value } from '../definitions.ts'

const NO_VERB = '__fish_use_subcommand'

/** Writes the completion for fish. */
export function createFishCompletion(program: Command): string {
  const verbs = listVerbs(program)
  const lines = [
    '# Created by: rollcall completion fish',
    'complete -c rollcall -f',
    ...verbs.map((verb) => `${toStart(NO_VERB)} -a ${verb.name()} -d ${quote(verb.description())}`),
    ...toOptionLines(program, NO_VERB),
    ...verbs.flatMap(toVerbLines),
  ]
  return `${lines.join('\n')}\n`
}

function toVerbLines(verb: Command): string[] {
  const condition = `__fish_seen_subcommand_from ${verb.name()}`
  const argument = toArgumentValue(verb)
  const lines = toOptionLines(verb, condition)
  return argument === 'none' || argument === 'text' ? lines : [`${toStart(condition)}${toFlags(argument)}`, ...lines]
}

function toOptionLines(command: Command, condition: string): string[] {
  return listOptions(command).map((option) => {
    const value = toFlags(toOptionValue(option))
    return `${toStart(condition)}${toNames(option)}${value} -d ${quote(option.description)}`
  })
}

function toStart(condition: string): string {
  return `complete -c rollcall -n ${quote(condition)}`
}

function toNames({ short, long }: Option): string {
  return `${short ? ` -s ${short.slice(1)}` : ''}${long ? ` -l ${long.slice(2)}` : ''}`
}

/** `-r` requires a value, `-F` completes files, and `-x` requires a value that is no file. */
function toFlags(value: Value): string {
  if (value === 'none') return ''
  if (value === 'file') return ' -r -F'
  return value === 'text' ? ' -x' : ` -x -a ${quote(value.join(' '))}`
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
