import { Argument, type Command } from 'commander'
import { createCommand } from './list-command.ts'
import { print } from './output.ts'
import { createBashCompletion } from './shells/bash.ts'
import { createFishCompletion } from './shells/fish.ts'
import { createZshCompletion } from './shells/zsh.ts'

const SHELLS = { bash: createBashCompletion, zsh: createZshCompletion, fish: createFishCompletion } as const

/** `rollcall completion`: prints a script that completes verbs, options, their values and names of files. */
export function createCompletionCommand(program: Command): Command {
  return createCommand(
    'completion',
    'Print a script that completes commands in a shell',
    'rollcall completion bash > ~/.local/share/bash-completion/completions/rollcall',
  )
    .addArgument(new Argument('<shell>', 'The shell').choices(Object.keys(SHELLS)))
    .action(async (shell: keyof typeof SHELLS) => await print(SHELLS[shell](program).trimEnd()))
}
