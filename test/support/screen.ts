/** Runs commands in a real pseudo-terminal, and knows what is on its screen. */

import { onTestFinished } from 'bun:test'
import { CLI } from './paths.ts'
import { within } from './wait.ts'

export interface Screen {
  /** The lines, without the blanks at their ends. */
  readonly lines: readonly string[]
  /** Every text that a line had meanwhile. */
  readonly states: readonly string[]
}

/**
 * Returns what output leaves on a screen that has no end. It knows only the controls that a progress bar needs.
 *
 * @throws for any other control, such as a color or a hidden cursor
 */
export function toScreen(output: string, columns: number): Screen {
  const rows: string[][] = [[]]
  const states = new Set<string>()
  let [row, column] = [0, 0]
  const toLine = (cells: readonly string[] = []) => cells.join('').trimEnd()

  function startRow(): void {
    row++
    rows[row] ??= []
  }

  const controls: Readonly<Record<string, () => void>> = {
    '\n': startRow,
    '\r': () => {
      column = 0
    },
    // EL of ECMA-48: erases from the cursor to the end of the line.
    '\u001b[K': () => void rows[row]?.splice(column),
  }

  function print(character: string): void {
    if (column === columns) {
      column = 0
      startRow()
    }
    rows[row]?.splice(column++, 1, character)
  }

  for (const token of output.match(/\p{Cc}(?:\[[\d;?]*[@-~])?|./gu) ?? []) {
    const control = controls[token]
    if (control) states.add(toLine(rows[row]))
    if (control) control()
    else if (/^\p{Cc}/u.test(token)) throw new Error(`unexpected control: ${JSON.stringify(token)}`)
    else print(token)
  }
  return { lines: rows.map(toLine).filter(Boolean), states: [...states] }
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
  /** Waits for the end. Returns the exit code, or the name of the signal, and the screen. */
  end(): Promise<Screen & { readonly exit: number | string | null }>
}

/** Starts a script of `sh` in a terminal. In it, `rollcall` is the command line. */
export function startInTerminal(script: string, { columns, folder, env }: TerminalOptions): TerminalRun {
  const decoder = new TextDecoder()
  const closed = Promise.withResolvers<void>()
  let output = ''
  let onOutput = () => {}
  const child = Bun.spawn(['sh', '-c', script.replaceAll('rollcall ', `'${process.execPath}' '${CLI}' `)], {
    cwd: folder,
    env: { PATH: process.env.PATH, TERM: 'xterm-256color', ...env },
    terminal: {
      cols: columns,
      data(_, data) {
        output += decoder.decode(data, { stream: true })
        onOutput()
      },
      exit: () => closed.resolve(),
    },
  })
  onTestFinished(() => child.kill('SIGKILL'))

  return {
    shows(part) {
      const { promise, resolve } = Promise.withResolvers<void>()
      onOutput = () => output.includes(part) && resolve()
      onOutput()
      return within(promise, () => `${JSON.stringify(part)} in the terminal, which has ${JSON.stringify(output)}`)
    },
    type: (keys) => void child.terminal?.write(keys),
    async end() {
      await within(child.exited, () => `the command ends; its terminal has ${JSON.stringify(output)}`)
      await within(closed.promise, 'the end of the output')
      return { ...toScreen(output, columns), exit: child.signalCode ?? child.exitCode }
    },
  }
}
