/** How far long work has come: on a terminal, and nowhere else. */

import type { SingleBar } from 'cli-progress'

export interface Progress {
  /** @param done how much of the total; @param rows what the rate counts */
  update(done: number, rows: number): void
  /** Clears the line. */
  stop(): void
}

const NONE: Progress = { update() {}, stop() {} }

/**
 * Shows a bar with the rate and the time left, or only a count where the total is not known.
 *
 * @param total asked only when there is a terminal, for it may take a while
 */
export async function createProgress(
  verb: string,
  total: () => Promise<number | undefined>,
): Promise<Progress> {
  if (!process.stderr.isTTY) return NONE
  // Loaded only when it is wanted: most runs have no terminal.
  const { SingleBar } = await import('cli-progress')
  const whole = await total()
  const left = whole === undefined ? '' : ' {bar} {percentage}%, {eta_formatted} left'
  const bar: SingleBar = new SingleBar({
    format: `${verb}${left}, {rows} rows, {rate} rows/s`,
    stream: process.stderr,
    clearOnComplete: true,
    hideCursor: true,
    barsize: 24,
    barCompleteChar: '\u2588',
    barIncompleteChar: '\u2591',
  })
  const start = performance.now()
  bar.start(whole ?? 0, 0, { rows: '0', rate: '-' })
  return {
    update(done, rows) {
      const rate = Math.round(rows / Math.max((performance.now() - start) / 1000, 0.001))
      bar.update(done, { rows: rows.toLocaleString('en'), rate: rate.toLocaleString('en') })
    },
    stop: () => bar.stop(),
  }
}
