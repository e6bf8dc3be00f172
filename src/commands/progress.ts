/** A progress bar on standard error, if that is a terminal. */

import type { SingleBar } from 'cli-progress'

export interface Progress {
  /** @param done the part of the total that is done; @param rows the number of rows, for the rate */
  update(done: number, rows: number): void
  /** Clears the line. */
  stop(): void
}

const NONE: Progress = { update() {}, stop() {} }

/**
 * Shows a bar with the rate and the time left; only the rate if the total is not known.
 *
 * @param findTotal called only on a terminal, because it may take long
 */
export async function createProgress(verb: string, findTotal: () => Promise<number | undefined>): Promise<Progress> {
  if (!process.stderr.isTTY) return NONE
  // Imported here because most runs have no terminal.
  const { SingleBar } = await import('cli-progress')
  const total = await findTotal()
  const share = total === undefined ? '' : ' {bar} {percentage}%, {eta_formatted} left'
  const bar: SingleBar = new SingleBar({
    format: `${verb}${share}, {rows} rows, {rate} rows/s`,
    stream: process.stderr,
    clearOnComplete: true,
    hideCursor: true,
    barsize: 24,
    barCompleteChar: '\u2588',
    barIncompleteChar: '\u2591',
  })
  const start = performance.now()
  bar.start(total ?? 0, 0, { rows: '0', rate: '-' })
  return {
    update(done, rows) {
      const rate = Math.round(rows / Math.max((performance.now() - start) / 1000, 0.001))
      bar.update(done, { rows: rows.toLocaleString('en'), rate: rate.toLocaleString('en') })
    },
    stop: () => bar.stop(),
  }
}
