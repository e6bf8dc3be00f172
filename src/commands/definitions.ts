/**
 * The definitions of the verbs, for what is generated from them: completions and the manual page. The completions are
 * whole scripts, so a key does not start this program.
 */

import type { Command, Option } from 'commander'

/** What a value is. An array has all its choices. */
export type Value = 'none' | 'text' | 'file' | readonly string[]

/** Placeholders of values that are names of files. A command may be one too. */
const FILE_NAMES = ['file', 'command']

/** Lists the verbs, with `help`. */
export function listVerbs(program: Command): readonly Command[] {
  return program.createHelp().visibleCommands(program)
}

/** Lists the options of a verb or of the program, with `--help`. */
export function listOptions(command: Command): readonly Option[] {
  return command.createHelp().visibleOptions(command)
}

export function toOptionValue({ flags, argChoices }: Option): Value {
  const name = /<(.+)>/.exec(flags)?.[1]
  return name === undefined ? 'none' : (argChoices ?? toKind(name))
}

/** Returns what the first argument of a verb is. */
export function toArgumentValue({ registeredArguments: [argument] }: Command): Value {
  return argument === undefined ? 'none' : (argument.argChoices ?? toKind(argument.name()))
}

/** The long name of an option. */
export function toLongName({ long, flags }: Option): string {
  return long ?? flags
}

function toKind(name: string): 'file' | 'text' {
  return FILE_NAMES.includes(name) ? 'file' : 'text'
}
