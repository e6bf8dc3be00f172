/** Runs commands in a real pseudo-terminal, and knows what is on its screen. */

import { onTestFinished } from 'bun:test'
import { PROGRAM } from './program.ts'
import { until, within } from './wait.ts'

export interface Screen {
  /** The lines, without the blanks at their ends. */
  readonly lines: readonly string[]
  /** Every text that a line had meanwhile. */
  readonly states: readonly string[]
}

// EL of ECMA-48: erases from the cursor to the end of the line.
const ERASE = '\u001b[K'

/**
 * Returns what output leaves on a screen that has no end. It knows only the controls that a progress bar needs.
 *
 * @throws for any other control, such as a color or a hidden cursor
 */
function toScreen(output: string, columns: number): Screen {
  const states = new Set<string>()
  const lines = output.split('\n').flatMap((line) => {
    const rows: string[] = []
    for (const part of line.split('\r')) {
      const last = rows.pop() ?? ''
      const text = part.startsWith(ERASE) ? part.slice(ERASE.length) : part + last.slice(part.length)
      if (/\p{Cc}/u.test(text)) throw new Error(`unexpected control: ${JSON.stringify(text)}`)
      states.add(text.trimEnd())
      // What is too long goes on in the next row, and stays there.
      rows.push(...(text.match(new RegExp(`.{1,${columns}}`, 'gu')) ?? ['']))
    }
    return rows
  })
  return { lines: lines.map((line) => line.trimEnd()).filter(Boolean), states: [...states] }
}

export interface TerminalOptions {
  readonly columns: number
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
}

export interface TerminalRun {
  /** Waits until the output has a text. */
  shows(part: string): Promise<void>
  /** Types keys, such as `^C`. */
  type(keys: string): void
  /** Waits until the output has a question, and types the answer. */
  answer(question: string, keys: string): Promise<void>
  /** Waits for the end. Returns the exit code, or the name of the signal. */
  exit(): Promise<number | string | null>
  /** Waits for the end. Returns what `exit` returns, and the screen. */
  end(): Promise<Screen & { readonly exit: number | string | null }>
}

/** Starts a script of `sh` in a terminal. In it, `rollcall` is the command line. */
export function startInTerminal(script: string, { columns, folder, env }: TerminalOptions): TerminalRun {
  const decoder = new TextDecoder()
  const closed = Promise.withResolvers<void>()
  let output = ''
  const child = Bun.spawn(['sh', '-c', script.replaceAll('rollcall ', `'${PROGRAM}' `)], {
    cwd: folder,
    env: { PATH: process.env.PATH, TERM: 'xterm-256color', ENV_FILE: '/dev/null', ...env },
    terminal: {
      cols: columns,
      data(_, data) {
        output += decoder.decode(data, { stream: true })
      },
      exit: () => closed.resolve(),
    },
  })
  onTestFinished(() => child.kill('SIGKILL'))

  const toText = (what: string) => () => `${what}; the terminal has ${JSON.stringify(output)}`
  async function exit() {
    await within(Promise.all([child.exited, closed.promise]), toText('the command ends'))
    return child.signalCode ?? child.exitCode
  }

  const shows = (part: string) => until(() => output.includes(part), toText(part))
  const type = (keys: string) => void child.terminal?.write(keys)
  return {
    shows,
    type,
    async answer(question, keys) {
      await shows(question)
      type(keys)
    },
    exit,
    async end() {
      const code = await exit()
      return { ...toScreen(output, columns), exit: code }
    },
  }
}
