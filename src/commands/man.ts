import type { Command } from 'commander'
import { listOptions } from './definitions.ts'
import { createCommand } from './list-command.ts'
import { print } from './output.ts'

/** `rollcall man`: prints the manual page. @param notes the paragraphs at its end */
export function createManCommand(program: Command, notes: readonly string[]): Command {
  return createCommand('man', 'Print the manual page', 'rollcall man > rollcall.1').action(
    async () => await print(createManPage(program, notes)),
  )
}

/** Writes the page in the macros of man(7). */
function createManPage(program: Command, notes: readonly string[]): string {
  return [
    `.TH ROLLCALL 1 ${new Date().toISOString().slice(0, 10)} "Rollcall ${toRoff(program.version() ?? '')}" "User Commands"`,
    '.SH NAME',
    `rollcall \\- ${toRoff(program.description())}`,
    '.SH SYNOPSIS',
    ...toLines(program.createHelp().commandUsage(program)),
    '.SH OPTIONS',
    ...toOptions(program),
    '.SH COMMANDS',
    ...program.commands.flatMap(toSection),
    '.SH NOTES',
    ...notes.flatMap((text, index) => [...(index > 0 ? ['.PP'] : []), ...toLines(text)]),
  ].join('\n')
}

function toSection(verb: Command): string[] {
  return [
    `.SS ${toRoff(verb.createHelp().commandUsage(verb))}`,
    ...toLines(`${verb.description()}.`),
    ...toOptions(verb),
  ]
}

function toOptions(command: Command): string[] {
  const help = command.createHelp()
  const rows = [
    ...command.registeredArguments.map((argument) => [help.argumentTerm(argument), help.argumentDescription(argument)]),
    ...listOptions(command).map((option) => [help.optionTerm(option), help.optionDescription(option)]),
  ]
  return rows.flatMap(([term = '', text = '']) => ['.TP', `.B ${toRoff(term)}`, ...toLines(text)])
}

/** A line that begins with a dot or an apostrophe would be a macro. */
function toLines(text: string): string[] {
  return toRoff(text)
    .split('\n')
    .map((line) => line.replace(/^[.']/, '\\&$&'))
}

/** Escapes what has a meaning in roff: groff_char(7). */
function toRoff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(
      /[^\n -~]/gu,
      (character) => `\\[u${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
    )
}
